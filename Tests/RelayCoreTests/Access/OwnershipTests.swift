import TestSupport
import Testing

@testable import RelayCore

/// One owner, `old@example.test`, granted at second 110 for a purchase of second 100.
@Suite("Owners after a batch of grants") struct OwnershipTests {
    private let name = SubscriptionName(publisher: "main", environment: "Production", originalTransactionID: "1")

    private func subscription(ownedBy customer: CustomerID? = "old@example.test") -> Ownership.Subscription {
        Ownership.Subscription(
            owner: customer.map { Ownership.Owner(of: $0, since: 110, acceptedAt: 100) }, username: "old", ownerNo: 3)
    }

    private func ownership(
        _ grants: [Ownership.Grant], on subscription: Ownership.Subscription? = nil
    ) throws -> Ownership {
        try Ownership(grants, on: [name: subscription ?? self.subscription()])
    }

    @Test("a customer without the offer before takes it from its owner, under the next number")
    func taken() throws {
        let grant = Ownership.Grant.sample("new", on: name, acceptedAt: 200)
        let ownership = try ownership([grant])
        #expect(ownership.outcomes == [.granted(name, ownerNo: 4)])
        #expect(
            ownership.transfers == [
                Ownership.Transfer(
                    subscription: name, to: grant.id, toCustomer: grant.customer, from: .numbered(100),
                    fromCustomer: "old@example.test")
            ])
        #expect(
            ownership.newOwners == [
                Ownership.NewOwner(id: grant.id, name: name, expiresAt: grant.change.expiresAt, ownerNo: 4)
            ])
        #expect(ownership.changes.map(\.customer.username) == ["new", "old"])
        #expect(ownership.changes.map(\.reason) == [.purchased, .other])
        #expect(ownership.alone.isEmpty && ownership.subscriptions[name]?.owner?.offerID == grant.offerID)
    }

    @Test("the owner's own newer purchase changes the purchase, not the owner; an older one changes nothing")
    func sameCustomer() throws {
        for (acceptedAt, newOwners) in [(200, 1), (90, 0)] as [(Int64, Int)] {
            let ownership = try ownership([.sample("old", on: name, acceptedAt: acceptedAt)])
            #expect(ownership.outcomes == [.granted(name, ownerNo: 3)])
            #expect(ownership.newOwners.count == newOwners)
            #expect(ownership.changes.map(\.reason) == Array(repeating: .purchased, count: newOwners))
            #expect(ownership.transfers.isEmpty)
        }
    }

    @Test("the first grant makes the owner, and is no transfer")
    func insertedBy() throws {
        let grant = Ownership.Grant.sample("new", on: name, acceptedAt: 200)
        var made = subscription(ownedBy: grant.customer)
        (made.insertedBy, made.ownerNo, made.username) = (grant.id, 1, grant.username)
        let ownership = try ownership([grant], on: made)
        #expect(ownership.outcomes == [.granted(name, ownerNo: 1)])
        #expect(ownership.changes.map(\.reason) == [.purchased])
        #expect(ownership.transfers.isEmpty && ownership.newOwners.isEmpty)
    }

    @Test("a subscription claimed only by a username is taken without a transfer")
    func claimedByName() throws {
        let ownership = try ownership(
            [.sample("new", on: name, acceptedAt: 200)], on: subscription(ownedBy: nil))
        #expect(ownership.outcomes == [.granted(name, ownerNo: 3)])
        #expect(ownership.newOwners.count == 1 && ownership.transfers.isEmpty)
        #expect(ownership.changes.map(\.customer.username) == ["new", "old"])
    }

    /// Two copies may accept purchases at the same time.
    @Test(
        "of two customers' grants of the same moment one takes it, and the other is read again",
        arguments: [false, true])
    func sameMoment(isMade: Bool) throws {
        let grants = [
            Ownership.Grant.sample("ana", on: name, id: .numbered(1), acceptedAt: 200),
            Ownership.Grant.sample("ben", on: name, id: .numbered(2), acceptedAt: 200),
        ]
        var found = subscription()
        if isMade {
            found = Ownership.Subscription(
                owner: Ownership.Owner(of: "ben@example.test", since: 110, acceptedAt: 200), username: "ben",
                ownerNo: 1,
                insertedBy: .numbered(2))
        }
        for grants in [grants, grants.reversed()] {
            let ownership = try ownership(grants, on: found)
            let ofAna = ownership.outcomes[grants[0].username == "ana" ? 0 : 1]
            let ofBen = ownership.outcomes[grants[0].username == "ana" ? 1 : 0]
            #expect(ofAna == .readTooOld)
            #expect(ofBen == .granted(name, ownerNo: isMade ? 1 : 4))
            #expect(ownership.newOwners.map(\.id) == (isMade ? [] : [.numbered(2)]))
        }
    }

    /// Both would be granted under the owner's number, and it has one.
    @Test("with a grant to the owner in the batch, no other customer takes the subscription")
    func besideTheOwner() throws {
        let owners = Ownership.Grant.sample("old", on: name, id: .numbered(1), acceptedAt: 99, observedAt: 130)
        var other = Ownership.Grant.sample("new", on: name, id: .numbered(2), acceptedAt: 98, observedAt: 130)
        other.ownerReading = .init(isEntitled: false, observedAt: Timestamp(seconds: 130))
        #expect(try ownership([other]).outcomes == [.granted(name, ownerNo: 4)])
        let both = try ownership([owners, other])
        #expect(both.outcomes == [.granted(name, ownerNo: 3), .readTooOld])
        #expect(both.newOwners.isEmpty && both.transfers.isEmpty)
    }

    @Test("of two grants to one customer at the same moment the later by id is the owner's purchase")
    func sameMomentOfOne() throws {
        let ownership = try ownership([
            .sample("new", on: name, id: .numbered(1), acceptedAt: 200),
            .sample("new", on: name, id: .numbered(2), acceptedAt: 200),
        ])
        #expect(ownership.outcomes == [.granted(name, ownerNo: 4), .granted(name, ownerNo: 4)])
        #expect(ownership.newOwners.map(\.id) == [.numbered(2)])
        #expect(ownership.transfers.count == 1)
    }

    /// Why Cleeng is asked about the owner, and the consequences of its answer.
    @Test("a customer who had the offer before needs a read of the owner; with an entitled owner the grant is separate")
    func ownerInDoubt() throws {
        var grant = Ownership.Grant.sample("new", on: name, acceptedAt: 200)
        grant.entitledBefore = true
        let owner = CurrentOwner(
            key: CustomerKey(publisher: "main", customer: "old@example.test"), email: "old@example.test",
            offerID: grant.offerID)
        #expect(try ownership([grant]).outcomes == [.ownerInDoubt(owner)])
        grant.ownerReading = .init(isEntitled: true, observedAt: grant.change.at)
        let alone = try ownership([grant])
        let own = name.alone(grant.id)
        #expect(alone.outcomes == [.granted(own, ownerNo: 1)])
        #expect(alone.alone.map(\.name) == [own])
        #expect(alone.changes.isEmpty && alone.newOwners.isEmpty && alone.transfers.isEmpty)
        grant.ownerReading = .init(isEntitled: false, observedAt: grant.change.at)
        #expect(try ownership([grant]).outcomes == [.granted(name, ownerNo: 4)])
    }

    @Test("a refunded purchase takes nothing; its customer is notified if it made the owner", arguments: [false, true])
    func refunded(isInserted: Bool) throws {
        var grant = Ownership.Grant.sample("new", on: name, acceptedAt: 200)
        grant.reasonToEnd = "refunded"
        var subscription = subscription(ownedBy: isInserted ? grant.customer : "old@example.test")
        if isInserted { subscription.insertedBy = grant.id }
        let ownership = try ownership([grant], on: subscription)
        #expect(ownership.outcomes == [.revoked(reason: "refunded")])
        #expect(ownership.changes.map(\.reason) == (isInserted ? [.refunded] : []))
        #expect(ownership.newOwners.isEmpty && ownership.transfers.isEmpty)
    }

    @Test("a grant on a subscription that was not read is refused")
    func unknown() {
        #expect(throws: Ownership.UnknownSubscription.self) {
            try Ownership([.sample("new", on: name, acceptedAt: 200)], on: [:])
        }
    }

    // MARK: Random batches

    /// The database would refuse the whole batch otherwise: each validation has its owner's number.
    @Test(
        "in a batch only the newest claim takes it; a number means one customer; a known refund is never granted",
        arguments: 0..<20 as Range<UInt64>)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let batch = RandomBatch(&generator)
            let ownership = try Ownership(batch.grants, on: batch.subscriptions)
            let comment: Comment = "seed \(seed), round \(round)"
            try #require(ownership.outcomes.count == batch.grants.count, comment)
            check(ownership, batch, comment)
            for name in batch.subscriptions.keys {
                let taking = try batch.newOwners(of: name)
                let newest = taking.max { $0.isOlder(than: $1) }
                let taken = ownership.newOwners.filter { $0.name == name }.map(\.id)
                let made = batch.inserted(ownership.outcomes).filter { id in taking.contains { $0.id == id } }
                // A newer grant to the owner, which changes nothing, keeps the subscription with the owner for this batch.
                let isKept = zip(batch.grants, ownership.outcomes).contains { grant, outcome in
                    guard case .granted(name, _) = outcome, let newest else { return false }
                    return newest.isOlder(than: grant)
                }
                #expect((taken.first ?? made.first) == (isKept ? nil : newest?.id), comment)
                #expect(taken.count <= 1, comment)
            }
            // The order within the batch does not matter.
            let order = batch.grants.indices.shuffled(using: &generator)
            let shuffled = try Ownership(order.map { batch.grants[$0] }, on: batch.subscriptions)
            #expect(shuffled.outcomes == order.map { ownership.outcomes[$0] }, comment)
            #expect(shuffled.transfers == ownership.transfers && shuffled.newOwners == ownership.newOwners, comment)
        }
    }

    private func check(_ ownership: Ownership, _ batch: RandomBatch, _ comment: Comment) {
        #expect(Set(ownership.newOwners.map(\.name)).count == ownership.newOwners.count, comment)
        #expect(Set(ownership.transfers.map(\.subscription)).count == ownership.transfers.count, comment)
        var owners: [String: CustomerID] = [:]
        for (grant, outcome) in zip(batch.grants, ownership.outcomes) {
            switch outcome {
            case .granted(let name, let number):
                #expect(grant.reasonToEnd == nil || name.standsAlone, comment)
                // A number means one customer, whatever else the batch grants.
                let owner = owners["\(name) \(number)", default: grant.customer]
                #expect(owner == grant.customer, comment)
                owners["\(name) \(number)"] = owner
                let last = ownership.newOwners.first { $0.name == name }?.ownerNo ?? batch.subscriptions[name]?.ownerNo
                #expect(name.standsAlone || number == last, comment)
            case .revoked(let reason): #expect(grant.reasonToEnd == reason, comment)
            case .ownerInDoubt(let owner): #expect(owner.key.customer != grant.customer, comment)
            case .readTooOld: break
            }
        }
        for transfer in ownership.transfers { #expect(transfer.toCustomer != transfer.fromCustomer, comment) }
        let customers = Set(ownership.changes.map(\.customer))
        #expect(CustomerChange.merged(ownership.changes).count == customers.count, comment)
    }
}
