import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("The summary of the ops API")
struct SummaryTests {
    @Test("of an empty database is empty")
    func empty() async throws {
        try await withStore { database, store in
            let summary = try await store.ops.summary()
            #expect(summary.countsByStatus.isEmpty)
            #expect(summary.oldestPending == nil && summary.upstream == nil)
            #expect(summary.backlog.oldestForwarding == nil)
            let backlog = summary.backlog
            let counts = [backlog.forwarding, backlog.watching, backlog.parked, backlog.overdue, backlog.outbox]
            #expect(counts == [0, 0, 0, 0, 0])
        }
    }

    @Test("counts every row in its place")
    func counts() async throws {
        try await withStore { database, store in
            try await store.takeAndGrant(.sample(customer: "ana@example.test", subscription: "1"))
            try await store.takeAndGrant(.sample(customer: "ben@example.test", subscription: "1"))
            try await store.write(try await store.takeAndClaim(.sample(subscription: "2")).rejected())
            let parked = try await store.takeAndClaim(.sample(subscription: "3"))
            try await store.purchases.park(parked, why: "test")
            let watching = try await store.takeAndClaim(.sample(subscription: "4"))
            try await store.write(watching.watching(until: watching.pursuit.deadline))
            try await database.letPass(seconds: 60)
            // Two are claimed, one of them past its lease; one waits.
            for number in 5..<8 { try await store.take(.sample(subscription: "\(number)")) }
            try await database.letPass(seconds: 30)
            let held = try await store.purchases.claimDue([.forwarding: 2, .watching: 1], lease: RelayStore.lease)
            try #require(held.count == 3)
            try await database.run(
                "UPDATE pursuits SET due_at = now() - interval '10 seconds' WHERE id = $1",
                .uuid(try #require(held.last { $0.pursuit.phase == .forwarding }).id.uuid))

            let summary = try await store.ops.summary()
            #expect(summary.countsByStatus == [.granted: 1, .transferred: 1, .rejected: 1, .timedOut: 2, .pending: 3])
            #expect(summary.backlog.forwarding == 3)
            #expect(summary.backlog.watching == 1)
            #expect(summary.backlog.parked == 1)
            #expect(summary.backlog.overdue == 2)
            #expect(summary.backlog.outbox == 2)
            let oldest = try #require(summary.oldestPending)
            #expect((.seconds(90)...Duration.seconds(150)).contains(oldest))
            let forwarding = try #require(summary.backlog.oldestForwarding)
            #expect((.seconds(30)...Duration.seconds(89)).contains(forwarding))
        }
    }
}
