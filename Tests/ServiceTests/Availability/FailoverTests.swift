import Foundation
import TestRun
import Testing

extension Availability {
    @Suite struct FailoverTests {
        /// The primary is killed under load, and the standby is promoted. Then the old primary is started again by
        /// mistake and accepts writes. The relay keeps using the new primary.
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func noAcceptedPurchaseIsLostWhenThePrimaryIsKilledUnderLoad() async throws {
            try await ServerPair.run { pair in
                try await BadDay.run(on: pair.database) { day in
                    let relay = try await day.relay()
                    let load = SteadyLoad(relay, "failover")
                    try await load.accepted(100)
                    try await pair.primary.kill9()
                    let killed = ContinuousClock.now
                    try await Probes(relay).become(ready: false)
                    let before = load.posted.accepted.count
                    try await pair.standby.promote()
                    let promoted = ContinuousClock.now
                    try await load.accepted(before + 1)
                    Measured.note("first 202 after the primary was killed", ContinuousClock.now - killed)
                    Measured.note("first 202 after the standby was promoted", ContinuousClock.now - promoted)
                    try await Probes(relay).become(ready: true)
                    try await load.accepted(before + 60)

                    // No standby confirms this server's commits, so the relay must not write to it.
                    try await pair.primary.start()
                    let name = day.database.name
                    let there = try await pair.primary.count("validations", in: name)
                    for round in 1...3 {
                        let session = "FROM pg_stat_activity WHERE application_name = 'receipt-relay'"
                        _ = try await pair.standby.look("SELECT pg_terminate_backend(pid) \(session)")
                        try await load.accepted(before + 60 + round * 20)
                        #expect(try await pair.primary.relaySessions() == 0)
                    }
                    let posted = await load.stop()
                    try await Availability.nothingIsLost(of: posted, on: pair.standby, relay, day)
                    #expect(try await pair.primary.relaySessions() == 0)
                    #expect(try await pair.primary.count("validations", in: name) == there)
                    Measured.note(
                        "503s of \(posted.count) posts, one failover", "\(posted.count - posted.accepted.count)")
                }
            }
        }

        /// The primary's machine hangs: connections stay open, and nothing is answered.
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func aPrimaryThatHangsIsGivenUp() async throws {
            try await ServerPair.run { pair in
                try await BadDay.run(on: pair.database, settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { day in
                    let relay = try await day.relay()
                    let load = SteadyLoad(relay, "hang")
                    try await load.accepted(60)
                    try pair.primary.freeze()
                    let frozen = ContinuousClock.now
                    try await pair.standby.promote()
                    let before = load.posted.accepted.count
                    try await Awaiting.fact("purchases are accepted again") {
                        load.posted.accepted.count
                    } holds: {
                        // Up to eight posts that were committed before the freeze may be recorded after the count.
                        $0 > before + 8
                    }
                    let recovery = ContinuousClock.now - frozen
                    Measured.note("purchases are accepted again after the primary hung", recovery)
                    let posted = await load.stop()
                    try await Availability.nothingIsLost(of: posted, on: pair.standby, relay, day)
                    try pair.primary.thaw()
                }
            }
        }

        /// Two planned switch-overs, there and back. The old primary follows the new one.
        @Test(.timeLimit(.paced(minutes: 4)))
        func rolesChangeHandsAndBack() async throws {
            try await ServerPair.run { pair in
                try await BadDay.run(on: pair.database) { day in
                    let relay = try await day.relay()
                    let load = SteadyLoad(relay, "switch")
                    var roles = (primary: pair.primary, standby: pair.standby)
                    for round in 1...2 {
                        try await load.accepted(load.posted.accepted.count + 50)
                        await roles.primary.stop()
                        let stopped = ContinuousClock.now
                        try await roles.standby.promote()
                        let before = load.posted.accepted.count
                        try await load.accepted(before + 1)
                        Measured.note("first 202 after switch-over \(round)", ContinuousClock.now - stopped)
                        try await roles.primary.start(following: roles.standby)
                        try await Probes(relay).become(ready: true)
                        #expect(try await roles.primary.relaySessions() == 0)
                        roles = (primary: roles.standby, standby: roles.primary)
                    }
                    try await load.accepted(load.posted.accepted.count + 20)
                    let posted = await load.stop()
                    try await Availability.nothingIsLost(of: posted, on: roles.primary, relay, day)
                }
            }
        }
    }
}
