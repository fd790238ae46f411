import Postgres
import RelayCore
import Testing

@testable import RelayStore

@Suite("What running copies say of the upstream")
struct InstanceTests {
    private func report(_ state: InstanceReport.UpstreamState) -> InstanceReport {
        InstanceReport(
            state: state, since: Timestamp(seconds: 1_795_262_400), lastError: state == .ok ? nil : state.rawValue)
    }

    @Test("is the worst that any of them says now")
    func worst() async throws {
        try await withStores(3) { database, stores in
            #expect(try await stores[0].upstream() == nil)
            try await stores[0].report(report(.ok), role: "all")
            #expect(try await stores[2].upstream() == report(.ok))
            try await stores[1].report(report(.misconfigured), role: "worker")
            try await stores[2].report(report(.down), role: "all")
            #expect(try await stores[0].upstream() == report(.misconfigured))
            try await stores[1].report(report(.ok), role: "worker")
            #expect(try await stores[0].upstream() == report(.down))
            #expect(try await stores[0].summary().upstream == report(.down))
        }
    }

    @Test("does not count from a front, from one that is gone, or from one that was not seen for long")
    func notCounted() async throws {
        try await withStores(3) { database, stores in
            try await stores[0].report(report(.down), role: "front")
            #expect(try await stores[0].upstream() == nil)
            try await stores[1].report(report(.down), role: "worker")
            try await stores[2].report(report(.ok), role: "worker")
            try await stores[1].reportGone()
            #expect(try await stores[0].upstream() == report(.ok))
            try await database.run("UPDATE instances SET seen_at = seen_at - interval '31 seconds'")
            #expect(try await stores[0].upstream() == nil)
            try await database.run("UPDATE instances SET seen_at = seen_at - interval '2 hours' WHERE role = 'front'")
            try await stores[2].reportGone()
            #expect(try await database.count("instances") == 0)
        }
    }

    @Test("keeps the time of its start over all its reports")
    func startedAt() async throws {
        try await withStore { database, store in
            try await store.report(report(.ok), role: "all")
            let started = try await database.value("SELECT started_at FROM instances", as: PostgresTimestamp.self)
            try await store.report(report(.degraded), role: "all")
            #expect(try await database.value("SELECT started_at FROM instances", as: PostgresTimestamp.self) == started)
            #expect(try await database.value("SELECT seen_at > started_at FROM instances", as: Bool.self))
        }
    }
}
