package import HTTPServer
import Postgres
import RelayCore

extension Problem {
    /// The client's problem for any error. It contains no internals.
    package init(describing error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let refusal as OpsRefusal: self.init(refusal)
        case let refusal as ActRefusal: self.init(refusal)
        case let error as PostgresError where error.code == .overloaded:
            self.init(.overloaded, "nothing was taken in; send the same request again")
        // After a time-out the effect of a statement is unknown. Sending the same request again is safe.
        case let error as PostgresError where error.isTransient || error.code == .timedOut || error.code == .cancelled:
            self.init(.databaseUnavailable, "send the same request again")
        // Undefined table or column: the schema is not migrated yet.
        case let error as PostgresError where ["42P01", "42703"].contains(error.sqlState):
            self.init(.databaseUnavailable, "send the same request again")
        default: self.init(ofServer: error)
        }
    }
}

extension Problem {
    init(_ refusal: OpsRefusal) {
        switch refusal {
        case .unknown: self.init(.unknownValidation, "nothing is known by this id")
        case .status(let status): self.init(.stateNotAllowed, "it is \(status.name)")
        case .superseded:
            self.init(.superseded, "sending this one would move the subscription back to its earlier owner")
        case .busy: self.init(.busy, "it is being sent, or revived by another operator, this very moment")
        case .receiptGone: self.init(.receiptGone, "there is nothing left to send")
        }
    }

    init(_ refusal: ActRefusal) {
        switch refusal {
        case .unknown(let subject): self.init(subject.code, "nothing is known by this id")
        case .noSuchPublisher(let id, _): self.init(.notFound, "no publisher goes by the id \(id)")
        case .endpointNotActive: self.init(.endpointNotActive, "its endpoint is disabled or removed")
        case .endpointExists(let id): self = .invalidFields([FieldError("url", .invalid, "is there already: \(id)")])
        case .notGenuine(let code, let detail): self.init(.notificationNotGenuine, "\(code): \(detail)")
        case .nobodyToTell:
            self.init(.unknownDelivery, "no purchase of that customer is known, or no endpoint takes messages")
        case .cannotAsk(let why): self.init(.stateNotAllowed, why)
        case .storeAway(let why): self.init(.storeUnavailable, "the App Store cannot be asked now: \(why)")
        case .nothingToConfirm: self.init(.stateNotAllowed, "it does not ask for a confirmation")
        case .publisherNotNamed(let known):
            let names = known.map(\.text).joined(separator: ", ")
            self = .invalidFields([
                FieldError(
                    "publisher", .required,
                    known.isEmpty ? "nobody's customer yet: name the publisher" : "must be one of \(names)")
            ])
        }
    }
}

extension ActRefusal.Subject {
    fileprivate var code: ProblemCode {
        switch self {
        case .notification: .unknownNotification
        case .message: .unknownDelivery
        case .event: .unknownEvent
        case .subscription: .unknownSubscription
        case .endpoint, .key, .publisher, .offer: .notFound
        }
    }
}
