import Operations
import RelayCore
import RelayStore

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
        case .notGenuine(let code, let detail): self.init(.notificationNotGenuine, "\(code): \(detail)")
        case .nobodyToTell:
            self.init(.unknownDelivery, "nothing is known of that customer, or no endpoint takes messages")
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
