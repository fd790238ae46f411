import RelayCore
import Testing

struct UpstreamHealthTests {
    private var health = UpstreamHealth(since: BreakerScript.second(0))

    private func second(_ second: Double) -> ContinuousClock.Instant { BreakerScript.second(second) }

    @Test func itStartsWell() {
        #expect(health.state == .ok)
        #expect(health.since == second(0))
        #expect(health.lastError == nil)
    }

    @Test mutating func oneFailureDegradesAndFiveInARowAreDown() {
        var changes: [Bool] = []
        var states: [UpstreamHealth.State] = []
        for failure in 1...7 {
            changes.append(health.record(.failure("HTTP 50\(failure)"), at: second(Double(failure))))
            states.append(health.state)
        }
        #expect(states == [.degraded, .degraded, .degraded, .degraded, .down, .down, .down])
        #expect(changes == [true, false, false, false, true, false, false])
        #expect(health.lastError == "HTTP 507")
    }

    @Test mutating func aSuccessMakesItWellAndTheCountBeginsAnew() {
        for at in 1...4 { _ = health.record(.failure("timeout"), at: second(Double(at))) }
        let recovered = health.record(.success, at: second(5))
        #expect(recovered)
        #expect(health.state == .ok)
        for at in 6...9 { _ = health.record(.failure("timeout"), at: second(Double(at))) }
        #expect(health.state == .degraded)
        _ = health.record(.failure("timeout"), at: second(10))
        #expect(health.state == .down)
        let recoveredAgain = health.record(.success, at: second(11))
        #expect(recoveredAgain)
        #expect(health.state == .ok)
    }

    @Test mutating func sinceMovesOnlyWithTheState() {
        var log: [ContinuousClock.Instant] = []
        let outcomes: [UpstreamHealth.Outcome] = [
            .success, .failure("a"), .failure("b"), .failure("c"), .failure("d"), .failure("e"), .failure("f"),
            .misconfigured("g"), .misconfigured("h"), .success, .success, .failure("i"),
        ]
        for (index, outcome) in outcomes.enumerated() {
            let before = health
            let changed = health.record(outcome, at: second(Double(index + 1)))
            #expect(changed == (health.state != before.state))
            #expect(changed == (health.since != before.since))
            log.append(health.since)
        }
        #expect(log == [0, 2, 2, 2, 2, 6, 6, 8, 8, 10, 10, 12].map(second))
    }

    @Test(arguments: [0, 1, 4, 5, 9]) mutating func misconfiguredComesWhateverTheStateWas(failures: Int) {
        for at in 0..<failures { _ = health.record(.failure("timeout"), at: second(Double(at))) }
        let changed = health.record(.misconfigured("bad token"), at: second(20))
        #expect(changed)
        #expect(health.state == .misconfigured)
        #expect(health.since == second(20))
        #expect(health.lastError == "bad token")
    }

    /// Second 1: Cleeng refuses the token. From second 2 on: timeouts, which do not show that the token is right again.
    @Test mutating func misconfiguredStaysUntilASuccess() {
        _ = health.record(.misconfigured("bad token"), at: second(1))
        for at in 2...12 {
            let changed = health.record(.failure("timeout"), at: second(Double(at)))
            #expect(!changed)
            #expect(health.state == .misconfigured)
        }
        #expect(health.since == second(1))
        #expect(health.lastError == "timeout")
        let recovered = health.record(.success, at: second(13))
        #expect(recovered)
        #expect(health.state == .ok)
        _ = health.record(.failure("timeout"), at: second(14))
        #expect(health.state == .degraded, "the failures before the success count no more")
    }

    @Test(
        arguments: [(.ok, "ok"), (.degraded, "degraded"), (.down, "down"), (.misconfigured, "misconfigured")]
            as [(UpstreamHealth.State, String)])
    func theNamesAreThoseOfTheContract(state: UpstreamHealth.State, name: String) {
        #expect(state.rawValue == name)
    }
}
