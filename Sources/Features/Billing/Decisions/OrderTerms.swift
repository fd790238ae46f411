import RelayCore

/// Customer and subscription of an order. A publisher can name each in one of several ways.
struct OrderTerms<Customer: Sendable, Cart: Sendable>: Sendable {
    enum Party: Sendable {
        case customer(BillingID)
        case newCustomer(Customer)
        /// The order joins an existing contract.
        case contract(BillingID)
    }

    enum Subject: Sendable {
        /// A subscription that was checked before.
        case checked(BillingID)
        /// A subscription that must be checked now.
        case cart(Cart)
    }

    var party: Party
    var subject: Subject

    /// - Throws: ``OrderTermsError`` unless exactly one way is used for each.
    init(
        customerID: BillingID?, customer: Customer?, contractID: BillingID?, externalSubscriptionID: BillingID?,
        cart: Cart?
    ) throws(OrderTermsError) {
        let parties: [Party] =
            [customerID.map { .customer($0) }, customer.map { .newCustomer($0) }, contractID.map { .contract($0) }]
            .compactMap(\.self)
        let subjects: [Subject] =
            [externalSubscriptionID.map { .checked($0) }, cart.map { .cart($0) }].compactMap(\.self)
        guard let subject = subjects.first, subjects.count == 1 else {
            throw subjects.isEmpty ? .noSubject : .severalSubjects
        }
        guard let party = parties.first, parties.count == 1 else {
            throw parties.isEmpty ? .noParty : .severalParties
        }
        self.party = party
        self.subject = subject
    }
}

/// Why the terms of an order are invalid.
enum OrderTermsError: Error, Sendable, Equatable, CaseIterable {
    case noParty, severalParties, noSubject, severalSubjects

    var description: String {
        switch self {
        case .noParty: "give one of CustomerId, Customer and ContractId"
        case .severalParties: "give only one of CustomerId, Customer and ContractId"
        case .noSubject:
            "give ExternalSubscriptionId, or ExternalCart for \(StorePlatform.asked.map(\.iapType).joined(separator: ", "))"
        case .severalSubjects: "give only one of ExternalSubscriptionId and ExternalCart"
        }
    }
}
