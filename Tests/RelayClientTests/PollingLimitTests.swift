import Testing

@testable import RelayClient

@Suite("The limit of a wait") struct PollingLimitTests {
    @Test("half a minute after the relay's own deadline, with one last poll", arguments: [3, 60, 120])
    func unreachable(allowance: Double) {
        var script = PollScript(known: .sample(.pending, allowance: allowance))
        _ = script.ready()
        var action = script.ready()
        for _ in 0..<100 {
            #expect(action == .ask(hold: 25) || action == .ask(hold: 0))
            let asked = script.elapsed
            switch script.fails(.refused) {
            case .pause(let pause): action = script.ready(after: pause)
            case .fail(let error):
                #expect(error.code == .noOutcome)
                #expect(error.isRetryable)
                #expect(error.detail.contains("no connection"))
                #expect(asked == .seconds(allowance + 30))
                #expect(script.ready() == .end)
                return
            case let other:
                Issue.record("\(other)")
                return
            }
        }
        Issue.record("it never ends")
    }

    @Test("a purchase that stays pending ends the wait")
    func forEver() {
        var script = PollScript(known: .sample(.pending))
        _ = script.ready()
        var action = script.ready()
        for _ in 0..<100 {
            switch action {
            case .ask(let hold): action = script.answers(.sample(.pending), after: .seconds(hold))
            case .pause(let pause): action = script.ready(after: pause)
            case .fail(let error):
                #expect(error.code == .noOutcome)
                #expect(error.detail.contains("pending"))
                #expect(script.elapsed > .seconds(90) && script.elapsed < .seconds(116), "\(script.elapsed)")
                return
            default:
                Issue.record("\(action)")
                return
            }
        }
        Issue.record("it never ends")
    }

    @Test("a device that slept past the deadline polls once more")
    func slept() {
        var script = PollScript(known: .sample(.pending))
        _ = script.ready()
        #expect(script.ready() == .ask(hold: 25))
        #expect(script.fails(.lost, after: .seconds(3_600)) == .pause(.milliseconds(500)))
        #expect(script.ready(after: .milliseconds(500)) == .ask(hold: 0))
        // The network may need a moment.
        #expect(script.fails(.refused) == .pause(.seconds(1)))
        #expect(script.ready(after: .seconds(1)) == .ask(hold: 0))
        #expect(script.answers(.sample(.granted, late: true)) == .tell(.sample(.granted, late: true)))
    }

    @Test("a wait that starts without a relay has its whole time from the first answer")
    func firstAnswer() {
        var script = PollScript()
        #expect(script.ready() == .ask(hold: 0))
        #expect(script.fails(.refused, after: .seconds(80)) == .pause(.seconds(0.5)))
        #expect(script.ready(after: .seconds(0.5)) == .ask(hold: 0))
        #expect(script.answers(.sample(.pending)) == .tell(.sample(.pending)))
        _ = script.ready()
        #expect(script.ready(after: .seconds(80)) == .ask(hold: 25))
    }

    @Test("a Retry-After beyond the limit does not postpone the last poll")
    func longRetryAfter() {
        var script = PollScript(known: .sample(.pending))
        _ = script.ready()
        _ = script.ready()
        #expect(script.fails(.unavailable(retryAfter: .seconds(86_400))) == .pause(.seconds(90)))
        #expect(script.ready(after: .seconds(90)) == .ask(hold: 0))
    }
}
