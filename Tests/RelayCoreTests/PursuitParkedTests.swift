import Testing

@testable import RelayCore

/// Events of a pursuit that was parked because its row could not be written.
struct PursuitParkedTests {
    @Test func itPausesForAnHourRepeatedly() {
        var script = Script()
        script.pursuit.phase = .parked
        script.pursuit.status = .timedOut
        for second in [61.0, 3_661, 200_000, 40_000_000] {
            let before = script.pursuit
            #expect(script.woken(at: second) == Decision(next: .rest(until: Script.second(second + 3600))))
            #expect(script.pursuit == before)
        }
    }

    @Test(arguments: ValidationStatus.allCases, [0, 59, 60, 1e6] as [Double])
    func itNeverEndsInAnyStatus(status: ValidationStatus, second: Double) {
        var script = Script()
        script.pursuit.phase = .parked
        script.pursuit.status = status
        #expect(script.woken(at: second).restsUntil == second + 3600)
        #expect(script.pursuit.phase == .parked)
    }

    @Test func itTimesOutLikeAnyOther() {
        var script = Script()
        script.pursuit.phase = .parked
        #expect(script.woken(at: 59).change == nil)
        let decision = script.woken(at: 75)
        #expect(decision.change == Decision.Change(status: .timedOut, at: Script.deadline))
        #expect(decision.events == [TimelineEvent(at: Script.deadline, kind: .timedOut)])
        #expect(decision.restsUntil == 3_675)
    }

    /// Actions that were due before the parking are not executed.
    @Test func nothingIsSentOrRead() {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 1)
        script.pursuit.phase = .parked
        #expect(script.woken(at: 500).restsUntil == 4_100)
        script.retriedByHand()
        #expect(script.woken(at: 501).next == .forward)
    }
}
