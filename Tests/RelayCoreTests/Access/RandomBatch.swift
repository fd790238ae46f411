import TestSupport

@testable import RelayCore

/// Grants in one settlement. All times are within a few seconds, so that many are equal, and reads come before and
/// after each grant.
struct RandomBatch {
    var grants: [Ownership.Grant] = []
    var subscriptions: [SubscriptionName: Ownership.Subscription] = [:]

    init(_ generator: inout SeededGenerator) {
        let names = (1...2).map {
            SubscriptionName(
                publisher: "main", environment: "Production", originalTransactionID: TransactionID("\($0)"))
        }
        func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }
        func second(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &generator) }
        for number in 0..<Int.random(in: 1...5, using: &generator) {
            guard let name = names.randomElement(using: &generator) else { continue }
            let customer: Username = ["ana", "ben", "cid"][Int.random(in: 0..<3, using: &generator)]
            var grant = Ownership.Grant.sample(
                customer, on: name, id: .numbered(UInt64(number) << 8 | generator.next() & 0xFF),
                acceptedAt: second(98...102), observedAt: second(103...125))
            grant.entitledBefore = chance(50) ? false : chance(50) ? true : nil
            grant.change.isProven = chance(15)
            if chance(50) {
                grant.ownerReading = .init(isEntitled: chance(40), observedAt: Timestamp(seconds: second(103...130)))
            }
            if chance(40) { grant.progress = .init(hasWaited: chance(50), isLastRead: chance(50)) }
            if chance(10) { grant.reasonToEnd = chance(50) ? "refunded" : "family_revoked" }
            grants.append(grant)
        }
        for name in Set(grants.map(\.name)) {
            var found = Ownership.Subscription(
                owner: nil, username: "ben", ownerNo: Int32.random(in: 1...3, using: &generator))
            let owners: [CustomerID] = ["ana@example.test", "ben@example.test", "old@example.test"]
            if chance(60), let customer = owners.randomElement(using: &generator) {
                found.owner = Ownership.Owner(of: customer, since: second(100...110), acceptedAt: second(97...101))
                found.owner?.claim.newestWaiting = chance(20) ? Timestamp(seconds: 102) : nil
            } else if chance(70),
                // The row is inserted for the newest grant.
                let newest = grants.filter({ $0.name == name }).max(by: { $0.isOlder(than: $1) })
            {
                found = Ownership.Subscription(
                    owner: Ownership.Owner(of: newest.customer, since: 126, acceptedAt: 0), username: newest.username,
                    ownerNo: 1, insertedBy: newest.id)
                found.owner?.claim.acceptedAt = newest.acceptedAt
                found.owner?.validation = newest.id
            }
            subscriptions[name] = found
        }
    }

    /// The grants that would take the subscription, or be its first, as the only grant of the batch.
    func newOwners(of name: SubscriptionName) throws -> [Ownership.Grant] {
        try grants.filter { grant in
            guard grant.name == name else { return false }
            let alone = try Ownership([grant], on: subscriptions)
            let isMade = subscriptions[name]?.insertedBy == grant.id && alone.outcomes == [.granted(name, ownerNo: 1)]
            return !alone.newOwners.isEmpty || isMade
        }
    }

    /// The grants that inserted their subscription's row, and were granted on it.
    func inserted(_ outcomes: [Ownership.Outcome]) -> [ValidationID] {
        zip(grants, outcomes).compactMap { grant, outcome in
            guard case .granted(grant.name, _) = outcome, subscriptions[grant.name]?.insertedBy == grant.id else {
                return nil
            }
            return grant.id
        }
    }
}

extension Ownership.Owner {
    /// An owner whose app waits ten seconds.
    init(of customer: CustomerID, since: Int64, acceptedAt: Int64) {
        self.init(
            customer: customer, email: EmailAddress(customer.text), offerID: "S0_US", validation: .numbered(100),
            claim: OwnershipClaim.Owner(
                acceptedAt: Timestamp(seconds: acceptedAt), since: Timestamp(seconds: since),
                unsettledUntil: Timestamp(seconds: since + 10)))
    }
}

extension Ownership.Grant {
    /// A grant to a customer who did not have the offer before.
    static func sample(
        _ username: Username, on name: SubscriptionName, id: ValidationID = .numbered(1), acceptedAt: Int64,
        observedAt: Int64? = nil
    ) -> Ownership.Grant {
        let observed = Timestamp(seconds: observedAt ?? acceptedAt + 5)
        return Ownership.Grant(
            id: id, name: name, customer: CustomerID("\(username)@example.test"),
            email: EmailAddress("\(username)@example.test"), username: username, offerID: "S1_US",
            acceptedAt: Timestamp(seconds: acceptedAt), deadline: Timestamp(seconds: acceptedAt + 10),
            change: Decision.Change(
                status: .granted, at: observed + .seconds(1), expiresAt: observed + .seconds(3_600),
                observedAt: observed),
            entitledBefore: false)
    }
}
