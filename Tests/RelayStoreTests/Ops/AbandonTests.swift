import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("An operator's abandonment")
struct AbandonTests {
    @Test("is an audited rejection with that reason; the pursuit ends, and waiters are notified")
    func abandon() async throws {
        try await withStore { database, store in
            let id = try await store.take(.sample())
            let waiter = store.memory.changes.register(id)
            defer { waiter.leave() }
            try await store.ops.abandon(id, by: "ops key", reason: "a test purchase")
            let stored = try #require(try await store.purchases.validation(id))
            #expect(stored.status == .rejected && stored.reason == "abandoned" && !stored.late)
            #expect(stored.settledAt != nil)
            #expect(try await database.count("pursuits") == 0)
            let last = try #require(try await store.ops.detail(id)?.timeline.last)
            #expect(last.event.kind == .abandoned)
            #expect(last.event.detail == "by ops key: a test purchase")
            #expect(await waiter.wait(until: .now + .seconds(180)).changed?.status == .rejected)
            // The same purchase may be posted again.
            #expect(try await store.accept(.sample()).isCreated)
        }
    }

    /// A purchase that Cleeng has accepted and that a worker has claimed for its next read.
    private func takeAndWatch(_ store: RelayStore) async throws -> ClaimedPursuit {
        let claimed = try await store.takeAndClaim(.sample())
        try await store.write(claimed.watching(until: claimed.soon))
        return try await store.claimOne()
    }

    @Test(
        "is refused while it is being sent, so that the next request is not sent too soon; not after the lease expires"
    )
    func busy() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            try await store.take(.sample(customer: "ben@example.test"))
            await #expect(throws: OpsRefusal.busy) { try await store.ops.abandon(claimed.id, by: "ops", reason: "") }
            #expect(try await store.purchases.claimDue().isEmpty)
            #expect(try await database.count("timeline", where: "event = 7") == 0)
            try await database.makeDue(claimed.id)
            try await store.ops.abandon(claimed.id, by: "ops", reason: "")
            #expect(try await store.claimOne().isSending)
        }
    }

    @Test("of a claimed pursuit fences its worker off")
    func leased() async throws {
        try await withStore { database, store in
            let claimed = try await takeAndWatch(store)
            try await store.ops.abandon(claimed.id, by: "ops", reason: "")
            #expect(try await store.outcome(of: claimed.granted()) == .leaseLost)
            #expect(try await store.outcome(of: claimed.failed(retryAt: claimed.soon)) == .leaseLost)
            #expect(try await store.purchases.renew([(claimed.id, claimed.fence)], lease: .seconds(60)).renewed.isEmpty)
            #expect(try await store.status(of: claimed.id) == .rejected)
            #expect(try await database.count("subscriptions") == 0)
        }
    }

    @Test("and a concurrent settlement by a worker: exactly one of the two takes effect", arguments: 1...5)
    func race(round: Int) async throws {
        try await withStores(2) { database, stores in
            let claimed = try await takeAndWatch(stores[0])
            async let settling = stores[0].outcome(of: claimed.granted())
            async let abandoning: OpsRefusal? = {
                do {
                    try await stores[1].ops.abandon(claimed.id, by: "ops", reason: "")
                    return nil
                } catch let refusal as OpsRefusal {
                    return refusal
                }
            }()
            let (outcome, refusal) = (try await settling, try await abandoning)
            let status = try await stores[0].status(of: claimed.id)
            let isGranted = outcome == .written
            #expect(refusal == (isGranted ? .status(.granted) : nil))
            #expect(status == (isGranted ? .granted : .rejected))
            #expect(try await database.count("subscriptions") == (isGranted ? 1 : 0))
            #expect(try await database.value("SELECT status FROM purchases", as: Int.self) == (isGranted ? 1 : 2))
        }
    }

    @Test("is late after the deadline, written or not", arguments: [false, true])
    func late(isWritten: Bool) async throws {
        try await withStore { database, store in
            let claimed = try await takeAndWatch(store)
            if isWritten { try await store.write(claimed.timedOut(restingUntil: claimed.pursuit.deadline)) }
            try await database.letPass(seconds: 61)
            try await store.ops.abandon(claimed.id, by: "ops", reason: "")
            let stored = try #require(try await store.purchases.validation(claimed.id))
            #expect(stored.status == .rejected && stored.late)
        }
    }

    @Test("is refused for an ended validation")
    func refused() async throws {
        try await withStore { database, store in
            let granted = try await store.takeAndGrant(.sample())
            await #expect(throws: OpsRefusal.status(.granted)) {
                try await store.ops.abandon(granted, by: "ops", reason: "")
            }
            let rejected = try await store.takeAndClaim(.sample(subscription: "2"))
            try await store.write(rejected.rejected())
            await #expect(throws: OpsRefusal.status(.rejected)) {
                try await store.ops.abandon(rejected.id, by: "ops", reason: "")
            }
            #expect(try await database.count("timeline", where: "event = 7") == 0)
        }
    }

    @Test("ends a retried purchase that stays rejected, and lets the customer be erased")
    func retried() async throws {
        try await withStore { database, store in
            let rejected = try await store.takeAndClaim(.sample())
            try await store.write(rejected.rejected())
            try await store.ops.retry(rejected.id, by: "ops", reason: "")
            try await store.ops.abandon(rejected.id, by: "ops", reason: "")
            #expect(try await database.count("pursuits") == 0)
            let stored = try #require(try await store.purchases.validation(rejected.id))
            #expect(stored.status == .rejected && stored.reason != "abandoned")
            let identity = try await store.customers.identity(of: "ana@example.test")
            let entry = AuditEntry(actor: "test", .customerErased, "a customer", of: nil)
            #expect(try await Erasure(store: store).run(identity, entry).validations == 1)
        }
    }

    @Test("keeps what is known of the tries, for a later retry")
    func keeps() async throws {
        try await withStore { database, store in
            let claimed = try await store.takeAndClaim(.sample())
            var write = claimed.watching(until: claimed.soon)
            write.pursuit.entitledBefore = false
            try await store.write(write)
            try await store.ops.abandon(claimed.id, by: "ops", reason: "")
            #expect(try await store.ops.detail(claimed.id)?.attempts == 1)
            try await store.ops.retry(claimed.id, by: "ops", reason: "")
            let again = try await store.claimOne()
            #expect(again.pursuit.forwards == 1 && again.pursuit.entitledBefore == false)
        }
    }

    @Test("does not affect a purchase with a newer validation")
    func freshOne() async throws {
        try await withStore { database, store in
            let old = try await store.take(.sample())
            try await database.letPass(seconds: 60)
            let fresh = try await store.take(.sample())
            try await store.ops.abandon(old, by: "ops", reason: "")
            #expect(try await store.accept(.sample()) == .existing(fresh))
        }
    }
}
