import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A subscription that is transferred to another email")
struct TransferTests {
    private let ana = "ana@example.test"
    private let ben = "ben@example.test"

    private func owner(in database: TestDatabase) async throws -> String {
        try await database.value("SELECT customer FROM subscriptions WHERE subscription_key !~ '#'", as: String.self)
    }

    private func ownerReading(_ isEntitled: Bool, _ observedAt: Timestamp) -> OwnershipClaim.OwnerReading {
        OwnershipClaim.OwnerReading(isEntitled: isEntitled, observedAt: observedAt)
    }

    @Test("by a store's statement is recorded once, however often the store names the former id")
    func repeated() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndGrant(.sample(customer: ana, subscription: "1"))
            let new = try await store.takeAndGrant(.sample(customer: ben, subscription: "2"))
            var notices = Notices(store: store, database: database)
            notices.key = "2"
            for day in 1...3 {
                try await notices.come(
                    "DID_RENEW", said: Double(day), period: "2-\(day)", ends: 172_800, movedFrom: "1")
                #expect(try await store.status(of: old) == .transferred)
                #expect(try await store.status(of: new) == .granted)
                #expect(try await database.count("transfers") == 1)
            }
        }
    }

    @Test("ends the old owner's validation, grants the new one's, is recorded and notifies both, in one transaction")
    func transfer() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndGrant(.sample(customer: ana))
            try await database.run("DELETE FROM customers")
            let claimed = try await store.takeAndClaim(.sample(customer: ben))
            #expect(try await store.status(of: old) == .granted)
            let waiter = store.memory.changes.register(old)
            defer { waiter.leave() }
            try await store.write(claimed.granted())

            let ended = try #require(try await store.purchases.validation(old))
            #expect(ended.status == .transferred)
            #expect(ended.settledAt != nil)
            #expect(try await store.status(of: claimed.id) == .granted)
            #expect(try await owner(in: database) == ben)
            let words = try await database.column(
                "SELECT username || ' ' || reason FROM customers ORDER BY 1", as: String.self)
            #expect(words == ["\(ana) OTHER", "\(ben) PURCHASED"])
            #expect(await waiter.wait(until: .now + .seconds(180)).changed?.status == .transferred)

            for id in [old, claimed.id] {
                let transfer = try #require(try await store.ops.detail(id)?.transfer)
                #expect(transfer.from.text == ana && transfer.to.text == ben)
                #expect(transfer.fromValidation == old && transfer.toValidation == claimed.id)
            }
            let kinds = try #require(try await store.ops.detail(old)).timeline.map(\.event.kind)
            #expect(kinds.last == .transferred)
            #expect(try await database.column("SELECT status FROM purchases ORDER BY 1", as: Int.self) == [1, 4])
            let transactions = try await database.value(
                """
                SELECT count(DISTINCT x) FROM (
                    SELECT xmin::text AS x FROM validations UNION ALL SELECT xmin::text FROM subscriptions
                    UNION ALL SELECT xmin::text FROM transfers UNION ALL SELECT xmin::text FROM customers
                    UNION ALL SELECT xmin::text FROM purchases) AS t
                """, as: Int.self)
            #expect(transactions == 1)
        }
    }

    @Test("ends every grant on it to the old owner, and no other grant")
    func everythingGranted() async throws {
        try await withStore { database, store in
            let monthly = try await store.takeAndGrant(.sample(customer: ana, offer: "S1_US"))
            let yearly = try await store.takeAndGrant(.sample(customer: ana, offer: "S2_US"))
            let other = try await store.takeAndGrant(.sample(customer: ana, subscription: "2"))
            let rejected = try await store.takeAndClaim(.sample(customer: ana, offer: "S3_US"))
            try await store.write(rejected.rejected())
            let new = try await store.takeAndGrant(.sample(customer: ben))
            #expect(try await store.status(of: monthly) == .transferred)
            #expect(try await store.status(of: yearly) == .transferred)
            #expect(try await store.status(of: other) == .granted)
            #expect(try await store.status(of: rejected.id) == .rejected)
            #expect(try await store.status(of: new) == .granted)
            #expect(try await database.count("transfers") == 1)
        }
    }

    @Test("and back, any number of times, always has one owner and one grant")
    func backAndForth() async throws {
        try await withStore { database, store in
            for round in 0..<6 {
                let customer = round.isMultiple(of: 2) ? ana : ben
                try await store.takeAndGrant(.sample(customer: customer))
                #expect(try await owner(in: database) == customer)
                #expect(
                    try await database.column("SELECT customer FROM validations WHERE status = 1", as: String.self)
                        == [customer])
                #expect(try await database.count("transfers") == round)
            }
        }
    }

    @Test("stays with the old owner if the new one is not granted")
    func notGranted() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndGrant(.sample(customer: ana))
            try await store.write(try await store.takeAndClaim(.sample(customer: ben)).rejected())
            #expect(try await store.status(of: old) == .granted)
            #expect(try await owner(in: database) == ana)
            #expect(try await database.count("transfers") == 0)
        }
    }

    /// Cleeng processed the older request after the newer one: the owner is the customer whom Cleeng entitles.
    @Test(
        "an older request's grant takes the subscription if its owner is no longer entitled, and is separate otherwise",
        arguments: [false, true])
    func olderGrant(isOwnerEntitled: Bool) async throws {
        try await withStore { database, store in
            let old = try await store.takeAndClaim(.sample(customer: ana))
            try await store.write(old.watching(until: old.pursuit.deadline))
            let new = try await store.takeAndGrant(.sample(customer: ben))
            try await database.makeDue(old.id)
            let again = try await store.claimOne()
            // The read is long after the transfer of the subscription.
            let observed = try await database.now() + old.patience
            var grant = again.granted(observedAt: observed)
            guard case .ownerInDoubt(let owner) = try await store.outcome(of: grant) else {
                Issue.record("the owner is not asked about")
                return
            }
            #expect(owner.key.customer.text == ben && owner.offerID == old.offerID)
            grant.ownerReading = ownerReading(isOwnerEntitled, observed + .seconds(1))
            #expect(try await store.outcome(of: grant) == .written)
            #expect(try await store.status(of: old.id) == .granted)
            #expect(try await store.status(of: new) == (isOwnerEntitled ? .granted : .transferred))
            #expect(try await self.owner(in: database) == (isOwnerEntitled ? ben : ana))
            #expect(try await database.count("transfers") == (isOwnerEntitled ? 0 : 1))
            // Both are evaluated regularly, each in a ledger of its own.
            #expect(try await database.count("ledgers", where: "due_at IS NOT NULL") == (isOwnerEntitled ? 2 : 1))
            #expect(try await database.count("validations", where: "status = 1 AND owner_no IS NULL") == 0)
        }
    }

    @Test(
        "a customer who had the offer before takes nothing, unless the owner is no longer entitled",
        arguments: [false, true])
    func entitledBefore(isOwnerEntitled: Bool) async throws {
        try await withStore { database, store in
            let old = try await store.takeAndGrant(.sample(customer: ana))
            let claimed = try await store.takeAndClaim(.sample(customer: ben))
            var grant = claimed.granted()
            grant.pursuit.entitledBefore = true
            guard case .ownerInDoubt = try await store.outcome(of: grant) else {
                Issue.record("the owner is not asked about")
                return
            }
            #expect(try await store.status(of: old) == .granted)
            grant.ownerReading = ownerReading(
                isOwnerEntitled, try await database.now() + claimed.patience + .seconds(1))
            #expect(try await store.outcome(of: grant) == .written)
            #expect(try await store.status(of: old) == (isOwnerEntitled ? .granted : .transferred))
            #expect(try await store.status(of: claimed.id) == .granted)
        }
    }

    @Test("a second granted customer is refused by the database itself")
    func refusedByTheDatabase() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndGrant(.sample(customer: ana))
            try await store.takeAndGrant(.sample(customer: ben))
            for number in [1, 3] {
                await #expect(throws: PostgresError.self) {
                    try await database.run(
                        "UPDATE validations SET status = 1, owner_no = \(number) WHERE id = '\(old.uuid)'")
                }
            }
            #expect(try await store.status(of: old) == .transferred)
            // An owner cannot be removed while a grant to that owner remains.
            await #expect(throws: PostgresError.self) {
                try await database.run("UPDATE subscriptions SET owner_no = owner_no + 1")
            }
        }
    }

    @Test("a grant by a read from before the transfer is not written, and the read is repeated")
    func readTooOld() async throws {
        try await withStore { database, store in
            let old = try await store.takeAndClaim(.sample(customer: ana))
            let observed = try await database.now()
            try await store.write(old.watching(until: old.pursuit.deadline))
            let new = try await store.takeAndGrant(.sample(customer: ben))
            try await database.makeDue(old.id)
            let again = try await store.claimOne()
            let before = try await database.picture(of: "pursuits")
            #expect(try await store.outcome(of: again.granted(observedAt: observed)) == .readTooOld)
            #expect(try await database.picture(of: "pursuits") == before)
            #expect(try await store.status(of: old.id) == .pending)
            #expect(try await store.status(of: new) == .granted)
            #expect(try await database.count("customers") == 1)
            // A read at exactly the same time counts as earlier.
            let since = try await database.value("SELECT owned_since FROM subscriptions", as: PostgresTimestamp.self)
            let moment = Timestamp(microseconds: since.microsecondsSince1970)
            #expect(try await store.outcome(of: again.granted(observedAt: moment)) == .readTooOld)
            // The lease continues, so a later write is possible.
            #expect(try await store.outcome(of: again.granted(observedAt: moment + old.patience)) == .readTooOld)
            let later = moment + old.patience + .microseconds(1)
            guard case .ownerInDoubt = try await store.outcome(of: again.granted(observedAt: later)) else {
                Issue.record("the owner is not asked about")
                return
            }
        }
    }

    /// Ana owns the subscription. Ben's request is sent, then Ana's again; Cleeng is slow. Ana is granted by her
    /// earlier access. Then Cleeng moves the subscription to Ben, who is read, and back to Ana.
    @Test(
        "an owner granted by earlier access leaves an older request to further reads while its app waits"
    )
    func grantedOnWhatWasThereBefore() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(customer: ana))
            let old = try await store.takeAndClaim(.sample(customer: ben))
            try await store.write(old.watching(until: old.pursuit.deadline))
            let new = try await store.takeAndClaim(.sample(customer: ana, offer: "S2_US"))
            let granted = try await database.now() + .seconds(1)
            try await store.write(new.granted(observedAt: granted))
            try await database.makeDue(old.id)
            let again = try await store.claimOne()
            for observed in [granted, granted + .microseconds(1), granted + old.patience] {
                #expect(try await store.outcome(of: again.granted(observedAt: observed)) == .readTooOld)
            }
            #expect(try await store.status(of: old.id) == .pending)
            let later = granted + old.patience + .microseconds(1)
            var grant = again.granted(observedAt: later)
            grant.ownerReading = ownerReading(true, later)
            #expect(try await store.outcome(of: grant) == .written)
            #expect(try await owner(in: database) == ana)
        }
    }

    /// Ana owns the subscription. Cleeng grants Ben's request, and Ben is read. Then Ana's own newer request moves it
    /// back, and Ana is read.
    @Test("no separate grant is made while the app of a newer request waits")
    func newerRequestWaits() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(customer: ana))
            let old = try await store.takeAndClaim(.sample(customer: ben))
            try await store.write(old.watching(until: old.pursuit.deadline))
            let new = try await store.takeAndClaim(.sample(customer: ana, offer: "S2_US"))
            try await store.write(new.watching(until: new.pursuit.deadline))
            try await database.makeDue(old.id)
            var grant = try await store.claimOne().granted()
            grant.pursuit.entitledBefore = nil
            grant.ownerReading = ownerReading(true, try await database.now() + old.patience + .seconds(1))
            #expect(try await store.outcome(of: grant) == .readTooOld)
            #expect(try await store.status(of: old.id) == .pending)
            // Once no app waits for the newer request, it can no longer move the subscription.
            try await database.run("UPDATE pursuits SET deadline = now() WHERE id = '\(new.id.uuid)'")
            #expect(try await store.outcome(of: grant) == .written)
            #expect(try await store.status(of: old.id) == .granted)
            #expect(try await owner(in: database) == ana)
        }
    }

    @Test("a repeat by the owner keeps the time of ownership, and is no transfer")
    func sameCustomer() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(customer: ana, offer: "S1_US"))
            let since = try await database.value("SELECT owned_since FROM subscriptions", as: PostgresTimestamp.self)
            let second = try await store.takeAndGrant(.sample(customer: " ANA@example.TEST", offer: "S2_US"))
            #expect(
                try await database.value("SELECT owned_since FROM subscriptions", as: PostgresTimestamp.self) == since)
            #expect(try await database.value("SELECT id FROM subscriptions", as: UUID.self) == second.uuid)
            #expect(try await database.count("transfers") == 0)
            #expect(try await database.count("validations", where: "status = 1") == 2)
        }
    }

    @Test(
        "of two grants in one batch the newest request owns, the older one is read again", arguments: [false, true])
    func twoInOneBatch(reversed: Bool) async throws {
        try await withStore { database, store in
            let first = try await store.takeAndGrant(.sample(customer: "cid@example.test"))
            let old = try await store.takeAndClaim(.sample(customer: ana))
            try await store.write(old.watching(until: old.pursuit.deadline))
            let new = try await store.takeAndClaim(.sample(customer: ben))
            try await store.write(new.watching(until: new.pursuit.deadline))
            try await database.makeDue(old.id)
            try await database.makeDue(new.id)
            let claimed = try await store.purchases.claimDue().sorted { $0.pursuit.acceptedAt < $1.pursuit.acceptedAt }
            try #require(claimed.map(\.id) == [old.id, new.id])
            let batch = claimed.map { $0.granted() }
            let outcomes = try await store.purchases.settle(reversed ? batch.reversed() : batch)
            #expect((reversed ? outcomes.reversed() : outcomes) == [.readTooOld, .written])
            #expect(try await owner(in: database) == ben)
            #expect(try await store.status(of: first) == .transferred)
            #expect(try await store.status(of: old.id) == .pending)
            #expect(try await store.status(of: new.id) == .granted)
            #expect(
                try await database.column("SELECT from_customer FROM transfers", as: String.self) == [
                    "cid@example.test"
                ])
        }
    }

    /// Two copies may accept purchases at the same time.
    @Test(
        "of two grants of the same time one takes the subscription, with or without an owner",
        arguments: [false, true],
        [false, true])
    func sameMoment(isOwned: Bool, reversed: Bool) async throws {
        try await withStore { database, store in
            if isOwned { try await store.takeAndGrant(.sample(customer: "cid@example.test")) }
            for customer in [ana, ben] {
                let one = try await store.takeAndClaim(.sample(customer: customer))
                try await store.write(one.watching(until: one.pursuit.deadline))
            }
            for table in ["validations", "pursuits"] {
                try await database.run(
                    """
                    UPDATE \(table) SET accepted_at = (SELECT max(accepted_at) FROM pursuits)
                    WHERE id IN (SELECT id FROM pursuits)
                    """)
            }
            try await database.run("UPDATE pursuits SET due_at = now() - interval '1 second'")
            let claimed = try await store.purchases.claimDue().sorted { $0.id.uuid.uuidString < $1.id.uuid.uuidString }
            try #require(claimed.count == 2 && claimed[0].pursuit.acceptedAt == claimed[1].pursuit.acceptedAt)
            let batch = claimed.map { $0.granted() }
            let outcomes = try await store.purchases.settle(reversed ? batch.reversed() : batch)
            #expect((reversed ? outcomes.reversed() : outcomes) == [.readTooOld, .written])
            #expect(try await owner(in: database) == claimed[1].customer.text)
            #expect(
                try await database.column("SELECT id FROM validations WHERE status = 1", as: UUID.self) == [
                    claimed[1].id.uuid
                ])
            // After another read, the other customer takes nothing while Cleeng entitles the owner.
            let settled = try await database.now() + claimed[0].patience + .seconds(5)
            var again = claimed[0].granted(observedAt: settled)
            guard case .ownerInDoubt(let owner) = try await store.outcome(of: again) else {
                Issue.record("the owner is not asked about")
                return
            }
            #expect(owner.key.customer == claimed[1].customer)
            again.ownerReading = ownerReading(true, settled + .seconds(1))
            #expect(try await store.outcome(of: again) == .written)
            #expect(try await self.owner(in: database) == claimed[1].customer.text)
            #expect(try await database.count("transfers") == (isOwned ? 1 : 0))
        }
    }

    @Test("sandbox and production have separate ledgers")
    func environments() async throws {
        try await withStore { database, store in
            let production = try await store.takeAndGrant(.sample(customer: ana))
            let sandbox = try await store.takeAndGrant(.sample(customer: ben, environment: "Sandbox"))
            #expect(try await store.status(of: production) == .granted)
            #expect(try await store.status(of: sandbox) == .granted)
            #expect(try await database.count("subscriptions") == 2)
            #expect(try await database.count("transfers") == 0)
            // A transfer in one environment does not affect the other.
            try await store.takeAndGrant(.sample(customer: "cid@example.test"))
            #expect(try await store.status(of: production) == .transferred)
            #expect(try await store.status(of: sandbox) == .granted)
        }
    }

    @Test("publishers do not share subscriptions")
    func publishers() async throws {
        try await withStore { database, store in
            let one = try await store.takeAndGrant(.sample(customer: ana, publisher: "one"))
            let two = try await store.takeAndGrant(.sample(customer: ben, publisher: "two"))
            #expect(try await store.status(of: one) == .granted)
            #expect(try await store.status(of: two) == .granted)
            #expect(try await database.count("transfers") == 0)
        }
    }

    @Test(
        "granted to many concurrently: only the newest request owns it and is granted",
        arguments: 1...3)
    func concurrent(round: Int) async throws {
        try await withStores(3) { database, stores in
            var claimed: [ClaimedPursuit] = []
            for number in 0..<12 {
                let one = try await stores[0].takeAndClaim(.sample(customer: "c\(number)@example.test"))
                try await stores[0].write(one.watching(until: one.pursuit.deadline))
            }
            try await database.run("UPDATE pursuits SET due_at = now() - interval '1 second'")
            claimed = try await stores[0].purchases.claimDue().shuffled()
            try #require(claimed.count == 12)
            let outcomes = try await withThrowingTaskGroup { group in
                for (index, one) in claimed.enumerated() {
                    group.addTask { (one.id, try await stores[index % 3].purchases.settle([one.granted()])[0]) }
                }
                return try await group.reduce(into: [ValidationID: PursuitWriteOutcome]()) { $0[$1.0] = $1.1 }
            }
            let newest = try #require(claimed.max { $0.pursuit.acceptedAt < $1.pursuit.acceptedAt })
            #expect(outcomes[newest.id] == .written)
            #expect(outcomes.values.allSatisfy { $0 == .written || $0 == .readTooOld })
            #expect(try await database.column("SELECT id FROM subscriptions", as: UUID.self) == [newest.id.uuid])
            #expect(
                try await database.column("SELECT id FROM validations WHERE status = 1", as: UUID.self) == [
                    newest.id.uuid
                ])
            let written = outcomes.values.filter { $0 == .written }.count
            #expect(try await database.count("validations", where: "status = 4") == written - 1)
            #expect(try await database.count("transfers") == written - 1)
            #expect(try await database.count("pursuits") == 12 - written)
        }
    }
}

extension ClaimedPursuit {
    /// Time for which the app waits.
    var patience: Duration { pursuit.deadline - pursuit.acceptedAt }
}
