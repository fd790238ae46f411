public import RelayCore
public import RelayStore

/// The publisher whose customer was asked about, and the outcome.
public struct RefreshedCustomer: Sendable {
    public var publisher: PublisherID
    public var outcome: CustomerInquiryOutcome
}

extension LongAct<RefreshedCustomer> {
    /// Asks Cleeng now what a customer is entitled to; access follows the answer.
    ///
    /// - Parameters:
    ///   - named: nil: the publisher whose customer they are, or the only one there is.
    ///   - patience: how long the customer's turn to be read is waited for.
    public static func refresh(
        _ customer: CustomerEmail, of named: PublisherID?, _ inquirer: any CustomerInquirer, patience: Duration
    ) -> Self {
        LongAct(.customerRefreshed) { work in
            let publisher: PublisherID
            switch try await work.store.subscriptions.publisher(
                of: customer.customer, named: named, in: work.actor.scope)
            {
            case .one(let one): publisher = one
            case .unknown: throw ActRefusal.unknown(.publisher)
            case .several(let known): throw ActRefusal.publisherNotNamed(known)
            }
            return try await work.recorded(customer.customer.text, of: publisher) {
                let outcome = try await inquirer.ask(about: customer, offer: nil, of: publisher, patience: patience)
                return (RefreshedCustomer(publisher: publisher, outcome: outcome), outcome.rawValue)
            }
        }
    }
}

extension LongAct {
    /// Reads everything that is kept of a customer.
    public static func export(
        _ identity: CustomerIdentity,
        _ read: @escaping @Sendable (CustomerIdentity, RelayStore) async throws -> Outcome
    ) -> Self {
        LongAct(.customerExported) { work in
            try await work.recorded(identity.customer.text, of: nil) {
                (try await read(identity, work.store), "\(identity.validations.count) purchases")
            }
        }
    }
}

extension Act<Erasure.Outcome> {
    /// Takes a customer out of the database. It may throw ``Erasure/Refusal``.
    public static func erase(_ identity: CustomerIdentity) -> Self {
        Act(.customerErased, timeout: .seconds(600)) { store, actor, reason in
            // It names nobody. The erasure writes it itself, after what it does to rows that do.
            let record = Record("a customer of \(identity.validations.count) purchases", of: nil)
            let entry = record.entry(.customerErased, by: actor, reason: reason)
            return (try await Erasure(store: store).run(identity, entry), nil)
        }
    }
}
