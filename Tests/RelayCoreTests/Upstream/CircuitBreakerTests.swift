import Testing

@testable import RelayCore

struct CircuitBreakerTests {
    @Test func fiveCustomersFailuresInARowOpenIt() {
        var script = BreakerScript.failed(4, at: 1)
        #expect(script.breaker.state == .closed)
        #expect(script.breaker.health.state == .degraded)
        script.fails(at: 1)
        #expect(script.breaker.state == .open)
        #expect(script.breaker.health.state == .down)
        #expect(script.breaker.admission() == nil)
        #expect(script.breaker.allowance == 0)
    }

    @Test func aSuccessInBetweenRestartsTheCount() {
        var script = BreakerScript.failed(4, at: 1)
        script.succeeds(at: 2)
        for _ in 0..<4 { script.fails(at: 3) }
        #expect(script.breaker.state == .closed)
    }

    /// One purchase that fails repeatedly because of its content.
    @Test func oneCustomersFailuresNeverOpenIt() {
        var script = BreakerScript()
        for second in 1...100 { script.fails(of: 7, at: Double(second)) }
        #expect(script.breaker.state == .closed)
        #expect(script.breaker.health.state == .down, "five in a row, whoever's they are")
        for _ in 0..<4 { script.fails(at: 101) }
        #expect(script.breaker.state == .open)
    }

    @Test func aRefusedTokenOpensItAsAnyFailureDoes() {
        var script = BreakerScript()
        for subject in 1...5 {
            script.ends(nil, CallResult(.misconfigured("bad token"), subject: subject), at: 1)
        }
        #expect(script.breaker.state == .open)
        #expect(script.breaker.health.state == .misconfigured)
    }

    @Test func probesComeAtGapsThatDoubleFromHalfASecondToEight() {
        var script = BreakerScript.failed(5, at: 0)
        #expect(script.probesThatFail(from: 0, to: 50) == [0.5, 1.5, 3.5, 7.5, 15.5, 23.5, 31.5, 39.5, 47.5])
    }

    @Test func copiesThatFailedTogetherDoNotProbeTogether() {
        var early = BreakerScript.failed(4, at: 0)
        early.fails(at: 0, jitter: 1)
        let probes = early.probesThatFail(from: 0, to: 25, jitter: 1)
        let expected = [0.38, 1.13, 2.63, 5.63, 11.63, 17.63, 23.63]
        #expect(probes.count == expected.count && zip(probes, expected).allSatisfy { abs($0 - $1) < 0.02 }, "\(probes)")
    }

    @Test func aProbeThatSucceedsClosesIt() throws {
        var script = BreakerScript.failed(5, at: 0)
        #expect(script.probe(at: 0.49) == nil)
        let probe = try script.goodProbe(at: 0.5)
        #expect(script.breaker.state == .halfOpen)
        #expect(script.probe(at: 0.5) == nil)
        script.succeeds(probe, at: 0.6)
        #expect(script.breaker.state == .closed)
        #expect(script.breaker.health.state == .ok)
        #expect(script.breaker.admission() != nil)
    }

    @Test func theNextOutageBeginsWithTheShortestWait() throws {
        var script = BreakerScript.failed(5, at: 0)
        _ = script.probesThatFail(from: 0, to: 30)
        let probe = try script.goodProbe(at: 36)
        script.succeeds(probe, at: 36)
        for _ in 0..<5 { script.fails(at: 40) }
        #expect(script.probesThatFail(from: 40, to: 44) == [40.5, 41.5, 43.5])
    }

    /// Each probe hangs until its timeout of twenty seconds. The upstream recovers at second 22, which is known at 35.5
    /// and not at 41.5.
    @Test func probesThatHangDoNotStopTheNextOnes() throws {
        var script = BreakerScript.failed(5, at: 20)
        var sent: [Double] = []
        for hundredth in 2_000...3_600 {
            if script.probe(at: Double(hundredth) / 100) != nil { sent.append(Double(hundredth) / 100) }
        }
        #expect(sent == [20.5, 21.5, 23.5, 27.5, 35.5])
        #expect(script.probe(at: 60) == nil, "five are under way")
    }

    @Test func oneOfSeveralProbesIsEnough() throws {
        var script = BreakerScript.failed(5, at: 0)
        let first = try script.goodProbe(at: 0.5)
        let second = try script.goodProbe(at: 1.5)
        script.fails(first, at: 2)
        #expect(script.breaker.state == .halfOpen)
        script.succeeds(second, at: 2.1)
        #expect(script.breaker.state == .closed)
    }

    @Test func aProbeThatWasNotSentMayBeSentAtOnce() throws {
        var script = BreakerScript.failed(5, at: 0)
        for _ in 0..<20 {
            let probe = try script.goodProbe(at: 0.5)
            script.ends(probe, nil, at: 0.5)
            #expect(script.breaker.state == .open)
        }
        #expect(script.probesThatFail(from: 0.5, to: 4) == [0.5, 1.5, 3.5], "nor does it make the gaps longer")
    }

    /// Fifty calls are running when the outage begins, and five of them open the breaker. The results of the others no
    /// longer matter.
    @Test func callsFromBeforeAnOutageDecideNothing() throws {
        var script = BreakerScript()
        let old = try #require(script.breaker.admission())
        for _ in 0..<5 { script.fails(at: 1) }
        script.succeeds(old, at: 1.1)
        #expect(script.breaker.state == .open)
        script.fails(old, at: 1.2)
        #expect(script.probesThatFail(from: 1.2, to: 2) == [1.5])
        let probe = try script.goodProbe(at: 2.5)
        script.succeeds(probe, at: 2.5)
        for _ in 0..<40 { script.fails(old, at: 3) }
        #expect(script.breaker.state == .closed)
        #expect(script.breaker.health.state == .ok)
    }

    @Test func aProbeThatFailsAfterTheRecoveryDecidesNothing() throws {
        var script = BreakerScript.failed(5, at: 0)
        let probes = try [0.5, 1.5, 3.5, 7.5, 15.5].map { try script.goodProbe(at: $0) }
        script.succeeds(probes[4], at: 15.6)
        for probe in probes.dropLast() { script.fails(probe, at: 20) }
        #expect(script.breaker.state == .closed)
        #expect(script.breaker.health.state == .ok)
    }

    @Test func afterARecoveryCallsGrowWithTheSuccesses() throws {
        var script = BreakerScript.failed(5, at: 0)
        #expect(BreakerScript().breaker.allowance == .max)
        let probe = try script.goodProbe(at: 1)
        script.succeeds(probe, at: 1)
        #expect(script.breaker.allowance == 6)
        for _ in 0..<10 { script.succeeds(at: 2) }
        #expect(script.breaker.allowance == 16)
        script.fails(at: 3)
        #expect(script.breaker.allowance == 16)
    }

    @Test(arguments: [1, 30, 60, 61, 3_600]) func whatTheUpstreamAskedForHoldsUpToAMinute(asked: Int) {
        var script = BreakerScript()
        script.fails(retryAfter: .seconds(asked), at: 10)
        #expect(script.breaker.state == .open)
        #expect(script.breaker.health.state == .degraded, "one failure is no outage")
        let until = 10 + Double(min(asked, 60))
        #expect(script.probe(at: until - 0.01) == nil)
        #expect(script.probe(at: until) != nil)
    }

    @Test func theLongestOfSeveralRequestedPausesApplies() throws {
        var script = BreakerScript()
        let old = try #require(script.breaker.admission())
        script.fails(retryAfter: .seconds(2), at: 0)
        script.fails(old, retryAfter: .seconds(5), at: 0.1)
        script.fails(old, retryAfter: .seconds(1), at: 0.2)
        #expect(script.probe(at: 5.09) == nil)
        let probe = try script.goodProbe(at: 5.1)
        script.fails(probe, retryAfter: .seconds(30), at: 5.2)
        #expect(script.probe(at: 35.19) == nil)
        #expect(script.probe(at: 35.2) != nil)
    }

    /// A requested pause was followed by one customer's own failure. Other customers need not wait for the pause's end.
    @Test func afterARequestedPauseAnyAnswerClosesIt() throws {
        var script = BreakerScript()
        script.fails(of: 1, retryAfter: .seconds(2), at: 0)
        let probe = try script.goodProbe(at: 2)
        script.fails(probe, of: 2, at: 2.1)
        #expect(script.breaker.state == .closed)
        #expect(script.breaker.allowance == 5)
        for subject in 3...4 { script.fails(of: subject, at: 3) }
        #expect(script.breaker.state == .closed)
        script.fails(of: 5, at: 3)
        #expect(script.breaker.state == .open, "five in a row, with a pause in between")
        #expect(script.probesThatFail(from: 3, to: 5) == [3.5, 4.5])
    }

    /// A call from before an outage is answered after it. The pause in its answer still counts, and the upstream is not
    /// reported as healthy.
    @Test func anOldCallsRequestedPauseApplies() throws {
        var script = BreakerScript()
        let old = try #require(script.breaker.admission())
        for _ in 0..<5 { script.fails(at: 1) }
        let probe = try script.goodProbe(at: 2)
        script.succeeds(probe, at: 2)
        #expect(script.breaker.health.state == .ok)
        script.fails(old, retryAfter: .seconds(3), at: 3)
        #expect(script.breaker.state == .open)
        #expect(script.breaker.health.state == .degraded)
        #expect(script.probe(at: 5.9) == nil)
    }

    /// Neither an unsent probe nor one that succeeded a moment before ends the requested pause.
    @Test func aWishOutweighsProbes() throws {
        var script = BreakerScript()
        let old = try #require(script.breaker.admission())
        for _ in 0..<5 { script.fails(at: 0) }
        let unsent = try script.goodProbe(at: 1)
        let early = try script.goodProbe(at: 3)
        script.fails(old, retryAfter: .seconds(20), at: 3.1)
        script.ends(unsent, nil, at: 3.2)
        #expect(script.probe(at: 3.3) == nil)
        script.succeeds(early, at: 3.3)
        #expect(script.breaker.state == .open)
        #expect(script.probe(at: 23.09) == nil)
        #expect(script.probe(at: 23.1) != nil)
    }
}
