import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("A replayed range")
struct ReplayTests {
    /// Parks that many purchases, accepted a minute apart, the oldest first.
    private func park(_ count: Int, _ store: RelayStore, _ database: TestDatabase) async throws -> [ValidationID] {
        var ids: [ValidationID] = []
        for number in 0..<count {
            let claimed = try await store.takeAndClaim(.sample(subscription: "p\(number)"))
            try await store.purchases.park(claimed, why: "test")
            ids.append(claimed.id)
        }
        for (number, id) in ids.enumerated() {
            for table in ["pursuits", "validations"] {
                try await database.run(
                    "UPDATE \(table) SET accepted_at = accepted_at - interval '\(count - number) minutes' WHERE id = $1",
                    .uuid(id.uuid))
            }
        }
        return ids
    }

    @Test("is replayed in pages, oldest first, each validation with actor and reason")
    func pages() async throws {
        try await withStore { database, store in
            let ids = try await park(5, store, database)
            let found = try await store.ops.replay(
                ReplayFilter(.parked, limit: 100), by: "ops", reason: "", isDryRun: true)
            #expect(found.matched == ids && found.replayed.isEmpty && found.next == nil)
            #expect(try await store.ops.backlog().0.parked == 5)
            var filter = ReplayFilter(.parked, limit: 2)
            var replayed: [[ValidationID]] = []
            repeat {
                let page = try await store.ops.replay(filter, by: "ops key", reason: "mended")
                replayed.append(page.replayed)
                #expect(page.refused.isEmpty)
                filter.cursor = try page.next.map { try #require(ValidationCursor($0.description)) }
            } while filter.cursor != nil
            #expect(replayed == [Array(ids[0..<2]), Array(ids[2..<4]), Array(ids[4...])])
            #expect(try await store.ops.backlog().0.parked == 0)
            for claimed in try await store.purchases.claimDue() { try await store.write(claimed.granted()) }
            for id in ids {
                let detail = try #require(try await store.ops.detail(id))
                #expect(detail.validation.status == .granted)
                #expect(detail.timeline.contains { $0.event.detail == "by ops key: mended" })
            }
        }
    }

    @Test("includes its beginning and excludes its end")
    func range() async throws {
        try await withStore { database, store in
            let ids = try await park(5, store, database)
            let times = try await store.ops.validations(matching: ValidationFilter(selection: .parked)).items.reversed()
                .map(\.validation.acceptedAt)
            func found(_ from: Int?, _ to: Int?) async throws -> [ValidationID] {
                let filter = ReplayFilter(.parked, from: from.map { times[$0] }, to: to.map { times[$0] })
                return try await store.ops.replay(filter, by: "", reason: "", isDryRun: true).matched
            }
            #expect(try await found(1, 3) == Array(ids[1..<3]))
            #expect(try await found(nil, 2) == Array(ids[..<2]))
            #expect(try await found(3, nil) == Array(ids[3...]))
            #expect(try await found(2, 2) == [])
        }
    }

    @Test("skips validations that may not be sent, with the reason")
    func refused() async throws {
        try await withStore { database, store in
            let ids = try await park(4, store, database)
            try await database.run("DELETE FROM receipts WHERE id = $1", .uuid(ids[0].uuid))
            try await store.takeAndGrant(.sample(customer: "ben@example.test", subscription: "p1"))
            try await database.run("DELETE FROM validations WHERE id = $1", .uuid(ids[2].uuid))
            let page = try await store.ops.replay(ReplayFilter(.parked), by: "ops", reason: "")
            #expect(page.matched == ids)
            #expect(page.replayed == [ids[3]])
            #expect(page.refused.map(\.id) == Array(ids[..<3]))
            #expect(
                page.refused.map(\.why) == [.refused(.receiptGone), .refused(.superseded), .refused(.unknown)])
        }
    }

    @Test("by status uses the present status, without abandoned validations")
    func byStatus() async throws {
        try await withStore { database, store in
            let rejected = try await store.takeAndClaim(.sample(subscription: "1"))
            try await store.write(rejected.rejected())
            let abandoned = try await store.takeAndClaim(.sample(subscription: "2"))
            try await store.write(abandoned.watching(until: abandoned.pursuit.deadline))
            try await store.ops.abandon(abandoned.id, by: "ops", reason: "")
            try await store.takeAndGrant(.sample(subscription: "3"))
            let late = try await store.take(.sample(subscription: "4"))
            try await database.letPass(seconds: 60)
            let pending = try await store.take(.sample(subscription: "5"))
            func found(_ status: ValidationStatus) async throws -> [ValidationID] {
                try await store.ops.replay(ReplayFilter(.status(status)), by: "", reason: "", isDryRun: true).matched
            }
            #expect(try await found(.rejected) == [rejected.id])
            #expect(try await found(.timedOut) == [late])
            #expect(try await found(.pending) == [pending])
            let page = try await store.ops.replay(ReplayFilter(.status(.rejected)), by: "ops", reason: "again")
            #expect(page.replayed == [rejected.id])
            #expect(Set(try await store.purchases.claimDue().map(\.id)) == [rejected.id, late, pending])
        }
    }

    @Test("with two concurrent retries of one settled purchase sends it once", arguments: 1...5)
    func sameInstant(round: Int) async throws {
        try await withStores(2) { database, stores in
            let first = try await stores[0].takeAndClaim(.sample())
            try await stores[0].write(first.rejected())
            // Both retries have seen that there is no pursuit, and wait for the validation's lock.
            let retries = try await database.hand.withTransaction(timeout: .seconds(25)) { transaction in
                _ = try await transaction.query(SQL("SELECT FROM validations FOR UPDATE"))
                let retries = stores.map { store in
                    Task { try await retryAndClaim(first.id, store) }
                }
                try await database.waitUntilBlocked(2)
                return retries
            }
            var answers: [OpsRefusal?] = []
            for retry in retries { answers.append(try await retry.value) }
            #expect(answers.filter { $0 == nil }.count == 1)
            #expect(answers.contains(.busy))
            #expect(try await database.count("pursuits", where: "sending") == 1)
            #expect(try await database.count("timeline", where: "event = 16") == 1)
        }
    }

    /// Retries the purchase; a worker claims it at once.
    private func retryAndClaim(_ id: ValidationID, _ store: RelayStore) async throws -> OpsRefusal? {
        do {
            try await store.ops.retry(id, by: store.memory.instance, reason: "")
            _ = try await store.purchases.claimDue()
            return nil
        } catch let refusal as OpsRefusal {
            return refusal
        }
    }
}
