import RelayCore
import Testing

/// Reads without a result: slow ones, failed ones, and those at the end of the watch.
struct PursuitFailingReadTests {
    static let failures: [EntitlementAnswer.Verdict] = [.noAnswer, .misconfigured(message: "bad token")]
    private static let end = 60.0 + 86_400

    @Test(arguments: failures) func aWatchDoesNotEndOnAFailedReadButContinuesHourly(
        verdict: EntitlementAnswer.Verdict
    ) {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 80_000)
        var at = Self.end
        for _ in 1...200 {
            let failed = script.readAnswered(verdict, at: at)
            #expect(failed.change == nil)
            #expect(failed.kinds == [.entitlementReadFailed])
            #expect(failed.restsUntil == at + 3600)
            #expect(script.woken(at: at + 3599.9).restsUntil == at + 3600)
            at += 3600
            #expect(script.woken(at: at).next == .read)
        }
        #expect(
            script.readAnswered(.notYet, at: at)
                == Decision(
                    events: [
                        TimelineEvent(
                            at: Script.second(at), kind: .entitlementRead, upstreamStatus: 200,
                            latency: .milliseconds(80),
                            detail: "not entitled")
                    ], next: .finished))
        #expect(script.pursuit.status == .timedOut)
    }

    @Test(arguments: failures) func aReadAfterTheWatchCanStillGrant(
        verdict: EntitlementAnswer.Verdict
    ) {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 80_000)
        _ = script.readAnswered(verdict, at: Self.end)
        let granted = script.readAnswered(.yes, at: Self.end + 3600)
        #expect(granted.change?.status == .granted)
        #expect(granted.change?.late == true)
        #expect(granted.next == .finished)
    }

    @Test(arguments: failures) func withoutAWatchAFailedReadIsNotTheLast(verdict: EntitlementAnswer.Verdict) {
        var script = Script.watching(since: 1)
        script.reads.reconcileFor = .zero
        let failed = script.readAnswered(verdict, at: 61)
        #expect(failed.change == PursuitDeadlineTests.timedOut)
        #expect(failed.restsUntil == 3_661)
        #expect(script.readAnswered(.notYet, at: 3_661).next == .finished)
    }

    @Test(arguments: [(60, 3600), (3600, 3600), (3601, 3601), (90_000, 90_000)] as [(Int, Double)])
    func aRequestedPauseAlsoAppliesAfterTheWatch(asked: Int, rest: Double) {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 80_000)
        let failed = script.readAnswered(.tryAgain(why: "HTTP 429", retryAfter: .seconds(asked)), at: Self.end)
        #expect(failed.restsUntil == Self.end + rest)
    }

    @Test(arguments: failures + [.notYet]) func theIntervalCountsFromWhenTheReadWasSent(
        verdict: EntitlementAnswer.Verdict
    ) {
        var script = Script.watching(since: 1)
        #expect(script.readAnswered(verdict, sent: 10, at: 13).restsUntil == 15)
        #expect(script.readAnswered(verdict, sent: 15, at: 19.999_999).restsUntil == 20)
        var late = Script.watching(since: 1)
        #expect(late.readAnswered(verdict, sent: 75, at: 78).restsUntil == 95, "15 s of the watch, and an interval")
    }

    @Test(arguments: failures + [.notYet], [25, 32] as [Double])
    func afterAReadSlowerThanTheIntervalTheNextOneIsDueAtOnce(verdict: EntitlementAnswer.Verdict, at: Double) {
        var script = Script.watching(since: 1)
        #expect(script.readAnswered(verdict, sent: 20, at: at).restsUntil == at, "never before now")
        #expect(script.pursuit.readAt == Script.second(at))
        #expect(script.woken(at: at).next == .read)
    }

    @Test func aRequestedPauseCountsFromItsAnswer() {
        var script = Script.watching(since: 1)
        let decision = script.readAnswered(
            .tryAgain(why: "HTTP 429", retryAfter: .seconds(30)), sent: 10, at: 12)
        #expect(decision.restsUntil == 42)
    }

    /// Sent before the end and answered after it: the read did not see the end.
    @Test(arguments: failures + [.notYet]) func theLastReadIsSentAtTheEndOrLater(verdict: EntitlementAnswer.Verdict) {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 80_000)
        #expect(script.readAnswered(verdict, sent: Self.end - 1, at: Self.end + 2).restsUntil == Self.end + 2)
        #expect(script.woken(at: Self.end + 2).next == .read)
        #expect(script.readAnswered(.notYet, at: Self.end + 2).next == .finished)
    }
}
