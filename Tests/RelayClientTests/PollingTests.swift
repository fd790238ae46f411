import Testing

@testable import RelayClient

@Suite("The steps of a wait") struct PollingTests {
    @Test("asks at once, then lets polls be held, and ends with the final state")
    func held() {
        var script = PollScript()
        #expect(script.ready() == .ask(hold: 0))
        #expect(script.answers(.sample(.pending)) == .tell(.sample(.pending)))
        #expect(script.ready() == .pause(.seconds(5)))
        #expect(script.ready(after: .seconds(5)) == .ask(hold: 25))
        // A poll that was held to its end is not reported, and the next one follows at once.
        #expect(script.answers(.sample(.pending), after: .seconds(25)) == .ask(hold: 25))
        #expect(script.answers(.sample(.granted), after: .seconds(3)) == .tell(.sample(.granted)))
        #expect(script.ready() == .end)
        #expect(script.ready() == .end)
    }

    @Test("the purchase's answer is reported first, and the first poll is held")
    func known() {
        var script = PollScript(known: .sample(.pending))
        #expect(script.ready() == .tell(.sample(.pending)))
        #expect(script.ready() == .ask(hold: 25))
        #expect(script.answers(.sample(.rejected, reason: "E1")) == .tell(.sample(.rejected, reason: "E1")))
        #expect(script.ready() == .end)
    }

    @Test("a settled purchase needs no poll")
    func settled() {
        var script = PollScript(known: .sample(.granted))
        #expect(script.ready() == .tell(.sample(.granted)))
        #expect(script.ready() == .end)
    }

    @Test("polls that are not held follow Retry-After", arguments: [nil, 2, 7])
    func plain(seconds: Int?) {
        let rhythm = Duration.seconds(seconds ?? 5)
        var script = PollScript(known: .sample(.pending))
        _ = script.ready()
        #expect(script.ready() == .ask(hold: 25))
        for _ in 0..<4 {
            let early = script.answers(
                .sample(.pending), after: .milliseconds(10), retryAfter: seconds.map { .seconds($0) })
            #expect(early == .pause(rhythm - .milliseconds(10)))
            #expect(script.ready(after: rhythm - .milliseconds(10)) == .ask(hold: 25))
        }
    }

    @Test("a Retry-After of zero causes no busy loop")
    func zero() {
        var script = PollScript(known: .sample(.pending))
        _ = script.ready()
        _ = script.ready()
        #expect(script.answers(.sample(.pending), retryAfter: .zero) == .pause(.seconds(1)))
    }

    @Test("an unknown status ends it")
    func unknownStatus() {
        var script = PollScript()
        _ = script.ready()
        let novel = RelayClient.Validation.sample(.init(rawValue: "on_the_moon"))
        #expect(script.answers(novel) == .tell(novel))
        #expect(script.ready() == .end)
    }

    @Test("temporary errors cause growing pauses, or Retry-After if that is longer")
    func trouble() {
        var script = PollScript(known: .sample(.pending))
        _ = script.ready()
        _ = script.ready()
        for pause in [0.5, 1, 2, 4, 5, 5] as [Double] {
            #expect(script.fails(.refused) == .pause(.seconds(pause)))
            #expect(script.ready(after: .seconds(pause)) == .ask(hold: 25))
        }
        #expect(script.fails(.unavailable(retryAfter: .seconds(9))) == .pause(.seconds(9)))
        #expect(script.ready(after: .seconds(9)) == .ask(hold: 25))
        // An answer ends the series of failures.
        #expect(script.answers(.sample(.pending), after: .seconds(25)) == .ask(hold: 25))
        #expect(script.fails(.refused) == .pause(.seconds(0.5)))
    }

    @Test(
        "if held polls fail repeatedly, plain ones are sent",
        arguments: [RelayError.lost, RelayError(.notUnderstood, "", httpStatus: 504)])
    func brokenHolds(error: RelayError) {
        var script = PollScript(known: .sample(.pending))
        _ = script.ready()
        #expect(script.ready() == .ask(hold: 25))
        _ = script.fails(error)
        #expect(script.ready(after: .seconds(5)) == .ask(hold: 25))
        _ = script.fails(error)
        #expect(script.ready(after: .seconds(5)) == .ask(hold: 0))
        #expect(script.answers(.sample(.pending)) == .pause(.seconds(5)))
        #expect(script.ready(after: .seconds(5)) == .ask(hold: 0))
    }

    @Test("what would not help is not tried", arguments: [401, 403, 404, 422])
    func hopeless(status: Int) {
        var script = PollScript(known: .sample(.pending))
        _ = script.ready()
        _ = script.ready()
        let error = RelayError(.unknownKey, "no", httpStatus: status)
        #expect(script.fails(error) == .fail(error))
        #expect(script.ready() == .end)
    }
}
