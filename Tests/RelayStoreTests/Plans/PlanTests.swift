import Postgres
import RelayCore
import TestRun
import Testing

@testable import Relay

/// A wrong plan reads all rows of a publisher, a bucket or a queue, so its cost grows with them. Each statement is
/// measured in a small database, and again after that database has grown.
@Suite("Statements that run regularly")
struct PlanTests {
    @Test("touch few pages in a grown database, analysed or not")
    func grown() async throws {
        try await withCounted { database, endpoint in
            let measured = Measured(database: database, endpoint: endpoint)
            let small = try await measured.figures(of: await database.store("small", .custom))
            // Its sessions exist from the start and renew their plans regularly. A plan from when a table was small
            // would be wrong however the statement is written (`PlanAge`).
            let living = await database.store("living", .generic, planAge: Self.shortAge)
            _ = try await measured.figures(of: living)
            var count = 0
            for size in [150, Self.many] {
                try await database.grow(count + 1...size)
                count = size
                measured.expectFew(
                    try await measured.figures(of: living), small, "sessions from before, \(size) purchases")
            }
            for moment in ["never analysed", "analysed"] {
                if moment == "analysed" { try await database.run("ANALYZE") }
                for plans in [Plans.custom, .generic] {
                    let fresh = await database.store("fresh", plans)
                    measured.expectFew(try await measured.figures(of: fresh), small, "\(moment), \(plans)")
                }
            }
        }
    }

    /// Queues are empty most of the time, and are usually analysed in that state.
    @Test("touch few pages if the queues were empty when analysed")
    func emptyQueues() async throws {
        try await withCounted { database, endpoint in
            let measured = Measured(database: database, endpoint: endpoint)
            let small = try await measured.figures(of: await database.store("small", .custom))
            let queues = ["pursuits", "notification_relays", "webhook_queue"]
            for queue in queues { try await database.run("DELETE FROM \(queue)") }
            // Another session's snapshot, such as that of autovacuum in the catalogue, keeps deleted rows. The
            // remaining pages then count as empty, and the planner takes the table for empty until it is analysed
            // again.
            try await eventually {
                try await database.run("VACUUM ANALYZE \(queues.joined(separator: ", "))")
                return try await database.value(
                    "SELECT sum(pg_relation_size(name::regclass))::int8 = 0 FROM unnest($1) AS name", .textArray(queues)
                )
            }
            let living = await database.store("living", .generic, planAge: Self.shortAge)
            _ = try await measured.figures(of: living)
            try await database.grow(1...Self.many)
            measured.expectFew(try await measured.figures(of: living), small, "queues that were empty")
        }
    }

    private static let many = TestRun.isWhole ? 50_000 : 20_000
    private static let shortAge: ClosedRange<Duration> = .milliseconds(10) ... .milliseconds(10)

    private func withCounted(_ body: (TestDatabase, EndpointID) async throws -> Void) async throws {
        try await TestDatabase.run(migrated: true) { database in
            try await database.prepareCounting()
            try await database.makeRoomToGrow()
            let store = await database.store("first")
            try await store.encryption.readPrivateColumns()
            try await body(database, try await store.makeEndpoint())
        }
    }
}

/// How the server plans a statement.
private enum Plans {
    /// A plan for the values of each call.
    case custom
    /// One plan for all values.
    case generic
}

extension TestDatabase {
    /// A store with measured statements. It has one connection for each kind of call, so that each call finds the plans
    /// of the one before.
    fileprivate func store(_ instance: String, _ plans: Plans, planAge: ClosedRange<Duration>? = nil) -> RelayStore {
        store(
            instance, parameters: Self.counting.merging(["plan_cache_mode": "force_\(plans)_plan"]) { $1 },
            connections: 1,
            planAge: planAge)
    }
}
