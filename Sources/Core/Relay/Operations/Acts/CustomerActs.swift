public import RelayCore

/// Outcome of a refresh, and the publisher of the customer.
public struct RefreshedCustomer: Sendable {
    public var publisher: PublisherID
    public var outcome: CustomerInquiryOutcome
}

extension LongAct<RefreshedCustomer> {
    /// Reads the customer's entitlement from Cleeng now. Access follows the answer.
    ///
    /// - Parameters:
    ///   - named: nil means the customer's publisher, or the only publisher that exists.
    ///   - patience: longest wait for the customer's turn to be read.
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
    /// Exports all stored data of a customer.
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
    /// Deletes a customer from the database. May throw ``Erasure/Refusal``.
    public static func erase(_ identity: CustomerIdentity) -> Self {
        Act(.customerErased, timeout: .seconds(600)) { store, actor, reason in
            // This row does not name the customer. The erasure writes it, after it has changed the rows that do.
            let record = Record("a customer of \(identity.validations.count) purchases", of: nil)
            let entry = record.entry(.customerErased, by: actor, reason: reason)
            return (try await Erasure(store: store).run(identity, entry), nil)
        }
    }
}
