import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("The upstream's state from the reports of all copies")
struct InstanceTests {
    private func report(_ state: InstanceReport.UpstreamState) -> InstanceReport {
        InstanceReport(
            state: state, since: Timestamp(seconds: 1_795_262_400), lastError: state == .ok ? nil : state.rawValue)
    }

    @Test("is the worst current report")
    func worst() async throws {
        try await withStores(3) { database, stores in
            #expect(try await stores[0].instances.upstream() == nil)
            try await stores[0].instances.report(report(.ok), role: "all")
            #expect(try await stores[2].instances.upstream() == report(.ok))
            try await stores[1].instances.report(report(.misconfigured), role: "worker")
            try await stores[2].instances.report(report(.down), role: "all")
            #expect(try await stores[0].instances.upstream() == report(.misconfigured))
            try await stores[1].instances.report(report(.ok), role: "worker")
            #expect(try await stores[0].instances.upstream() == report(.down))
            #expect(try await stores[0].ops.summary().upstream == report(.down))
        }
    }

    /// Second 0: one copy's calls fail. The others take over the work. Second 20: one of them finds the upstream
    /// healthy.
    @Test("ignores a copy that has made no call since, while another has")
    func outdated() async throws {
        try await withStores(2) { database, stores in
            let now = try await database.now()
            func asked(_ state: InstanceReport.UpstreamState, _ ago: Int?) -> InstanceReport {
                var asked = report(state)
                asked.askedAt = ago.map { now - .seconds($0) }
                return asked
            }
            for (bad, well, told) in [
                (40, 20, "ok"), (40, 39, "ok"), (40, 50, "down"), (40, nil, "down"), (20, 10, "down"),
                (nil, 10, "down"),
            ] as [(Int?, Int?, String)] {
                try await stores[0].instances.report(asked(.down, bad), role: "worker")
                try await stores[1].instances.report(asked(.ok, well), role: "worker")
                #expect(try await stores[0].instances.upstream()?.state.rawValue == told, "\(bad ?? -1), \(well ?? -1)")
                let shown = try await stores[0].instances.running(in: .all).first { $0.id == stores[0].memory.instance }
                #expect(shown?.upstreamText == (told == "ok" ? "outdated (down)" : "down"))
            }
            // A refused token remains refused until a restart.
            try await stores[0].instances.report(asked(.misconfigured, 40), role: "worker")
            #expect(try await stores[0].instances.upstream()?.state == .misconfigured)
            // No other copy has a better report.
            try await stores[0].instances.report(asked(.misconfigured, 4_000), role: "worker")
            try await stores[1].instances.report(asked(.degraded, 1), role: "worker")
            #expect(try await stores[0].instances.upstream()?.state == .misconfigured)
        }
    }

    @Test("ignores fronts, ended copies and copies not seen for long")
    func notCounted() async throws {
        try await withStores(3) { database, stores in
            try await stores[0].instances.report(report(.down), role: "front")
            #expect(try await stores[0].instances.upstream() == nil)
            try await stores[1].instances.report(report(.down), role: "worker")
            try await stores[2].instances.report(report(.ok), role: "worker")
            try await stores[1].instances.reportGone()
            #expect(try await stores[0].instances.upstream() == report(.ok))
            try await database.run("UPDATE instances SET seen_at = seen_at - interval '9 seconds'")
            #expect(try await stores[0].instances.upstream() == nil)
            let workers = try await stores[0].instances.workers(in: .all)
            #expect(workers.report == nil && workers.lastSeen.map { $0 >= .seconds(9) } == true)
            let copies = try await stores[0].instances.running(in: .all)
            #expect(copies.count == 2 && copies.allSatisfy { $0.isSilent && $0.upstreamText == "silent" })
            try await database.run("UPDATE instances SET seen_at = seen_at - interval '10 minutes'")
            #expect(try await stores[0].instances.running(in: .all).isEmpty)
            try await database.run("UPDATE instances SET seen_at = seen_at - interval '2 hours' WHERE role = 'front'")
            try await stores[2].instances.reportGone()
            #expect(try await database.count("instances") == 0)
        }
    }

    @Test("keeps whether other calls succeed beside failing ones")
    func othersSucceed() async throws {
        try await withStores(2) { database, stores in
            var some = report(.degraded)
            some.othersSucceed = true
            try await stores[0].instances.report(some, role: "worker")
            #expect(try await stores[1].instances.upstream() == some)
            some.othersSucceed = false
            try await stores[0].instances.report(some, role: "worker")
            #expect(try await stores[1].instances.upstream()?.othersSucceed == false)
            var well = report(.ok)
            well.askedAt = some.since + .seconds(1)
            try await stores[1].instances.report(well, role: "worker")
            #expect(try await stores[1].instances.upstream()?.othersSucceed == true)
        }
    }

    @Test("keeps the time of its start over all its reports")
    func startedAt() async throws {
        try await withStore { database, store in
            try await store.instances.report(report(.ok), role: "all")
            let started = try await database.value("SELECT started_at FROM instances", as: PostgresTimestamp.self)
            try await store.instances.report(report(.degraded), role: "all")
            #expect(try await database.value("SELECT started_at FROM instances", as: PostgresTimestamp.self) == started)
            #expect(try await database.value("SELECT seen_at > started_at FROM instances", as: Bool.self))
        }
    }
}
