import Formats
import Testing

@testable import RelayCore

struct PursuitForwardTests {
    private static let unavailable = ForwardAnswer.Verdict.tryAgain(why: "HTTP 503", retryAfter: nil)

    @Test func aRejectionEndsThePursuitWithCleengsReason() {
        var script = Script()
        let decision = script.forwardAnswered(
            .rejected(code: "ERR-17", message: "receipt is not valid"), status: 422, at: 1)
        #expect(
            decision.change == Decision.Change(status: .rejected, reason: "ERR-17", late: false, at: Script.second(1)))
        #expect(decision.kinds == [.forwarded, .rejected])
        #expect(decision.events.allSatisfy { $0.detail == "ERR-17: receipt is not valid" })
        #expect(decision.events.first?.upstreamStatus == 422)
        #expect(decision.next == .finished)
        #expect(script.pursuit.status == .rejected)
        #expect(script.pursuit.forwards == 1)
    }

    @Test(
        arguments: [
            ("E1", "words", "E1"), ("E1", nil, "E1"), (nil, "words", "words"), (nil, nil, "rejected"),
        ] as [(String?, String?, String)])
    func aRejectionAlwaysHasAReason(code: String?, message: String?, reason: String) {
        var script = Script()
        #expect(script.forwardAnswered(.rejected(code: code, message: message), at: 1).change?.reason == reason)
    }

    @Test(
        arguments: [("E1", "words", "E1: words"), ("E1", nil, "E1"), (nil, "words", "words"), (nil, nil, nil)]
            as [(String?, String?, String?)])
    func aRejectionHasCleengsReasonOrNone(code: String?, message: String?, detail: String?) {
        var script = Script()
        let decision = script.forwardAnswered(.rejected(code: code, message: message), at: 1)
        #expect(decision.kinds == [.forwarded, .rejected])
        #expect(decision.events.map(\.detail) == [detail, detail])
    }

    @Test func aRejectionAfterTheDeadlineFollowsTheTimeout() {
        var script = Script()
        let decision = script.forwardAnswered(.rejected(code: "E1", message: nil), at: 65)
        #expect(decision.kinds == [.forwarded, .timedOut, .rejected])
        #expect(decision.events.map(\.at) == [Script.second(65), Script.deadline, Script.second(65)])
        #expect(
            decision.change == Decision.Change(status: .rejected, reason: "E1", late: true, at: Script.second(65)))
        #expect(decision.next == .finished)
    }

    /// The first try's answer was lost: Cleeng may have accepted that try and refuse the second as a repeat.
    @Test func theEntitlementDecidesAboutARefusedRepeat() {
        var script = Script()
        _ = script.forwardAnswered(Self.unavailable, at: 1)
        let refused = script.forwardAnswered(.rejected(code: "E1", message: nil), at: 2)
        #expect(refused.change?.status == .rejected)
        #expect(refused.next == .read)
        let granted = script.readAnswered(.yes, at: 3)
        #expect(granted.change?.status == .granted)
        #expect(granted.change?.late == false)
        #expect(granted.next == .finished)
    }

    @Test func aRefusedRepeatIsWatchedAndNeverSentAgain() {
        var script = Script()
        _ = script.forwardAnswered(Self.unavailable, at: 1)
        _ = script.forwardAnswered(.rejected(code: "E1", message: nil), at: 2)
        let notYet = script.readAnswered(.notYet, at: 2)
        #expect(notYet.change == nil)
        #expect(notYet.restsUntil == 7)
        #expect(script.woken(at: 60) == Decision(next: .read), "it stays rejected")
        #expect(script.readAnswered(.yes, at: 61).change?.late == true)
    }

    @Test func earlierAccessProvesNothingAfterARefusal() {
        var script = Script()
        _ = script.baselineRead(.yes, at: 0)
        _ = script.forwardAnswered(Self.unavailable, at: 1)
        #expect(script.forwardAnswered(.rejected(code: "E1", message: nil), at: 2).next == .finished)
    }

    @Test(
        arguments: [
            (.misconfigured(message: "bad token"), "our configuration: bad token"),
            (.misconfigured(message: nil), "our configuration: refused"), (unavailable, "HTTP 503"),
        ] as [(ForwardAnswer.Verdict, String)])
    func anyOtherFailureIsRetriedForDays(verdict: ForwardAnswer.Verdict, detail: String) {
        var script = Script()
        var now = 0.0
        for attempt in 1...5_000 {
            let woken = script.woken(at: now)
            guard woken.next == .forward else {
                Issue.record("attempt \(attempt) at second \(now) was not due: \(woken.next)")
                return
            }
            let failed = script.forwardAnswered(verdict, at: now)
            #expect(failed.kinds.first == .forwardFailed)
            #expect(failed.events.first?.detail == detail)
            #expect(failed.change == nil || failed.change?.status == .timedOut)
            #expect(script.pursuit.phase == .forwarding)
            #expect(script.pursuit.forwards == attempt)
            guard let due = script.pursuit.retryAt, due > Script.second(now) else {
                Issue.record("attempt \(attempt) at second \(now) has no next one")
                return
            }
            #expect(due - Script.second(now) <= .seconds(60))
            now = (due - Script.acceptedAt).seconds
        }
        #expect(now > 3 * 86_400)
        #expect(script.pursuit.status == .timedOut)
        #expect(script.forwardAnswered(.accepted, at: now).next == .read)
        #expect(script.readAnswered(.yes, at: now).change?.status == .granted)
    }

    @Test(
        arguments: [
            (0, [0.5, 1, 2, 4, 8, 16, 32, 40, 40, 40]), (1, [0.75, 1.5, 3, 6, 12, 24, 48, 60, 60, 60]),
        ] as [(Double, [Double])])
    func retriesComeAtDoublingGaps(jitter: Double, expected: [Double]) {
        var script = Script()
        var now = 0.0
        var gaps: [Double] = []
        for _ in 1...10 {
            _ = script.woken(at: now)
            _ = script.forwardAnswered(Self.unavailable, at: now, jitter: jitter)
            let due = (script.pursuit.retryAt.map { $0 - Script.acceptedAt })?.seconds ?? .nan
            gaps.append(due - now)
            now = due
        }
        #expect(gaps == expected)
    }

    @Test func aRetryIsNotSentBeforeItIsDue() {
        var script = Script()
        let failed = script.forwardAnswered(.tryAgain(why: "HTTP 429", retryAfter: .seconds(7)), at: 1, jitter: 0)
        #expect(failed.restsUntil == 8)
        #expect(script.woken(at: 7.999).restsUntil == 8)
        #expect(script.woken(at: 8).next == .forward)
    }

    @Test func anOperatorsRetryOfARejectedPurchaseCanStillGrantIt() {
        var script = Script()
        _ = script.forwardAnswered(.rejected(code: "E1", message: nil), at: 1)
        script.retriedByHand()
        let woken = script.woken(at: 300)
        #expect(woken.next == .forward)
        #expect(woken.change == nil, "what the app was told stays until something new is known")
        #expect(script.forwardAnswered(.accepted, at: 301).change == nil)
        #expect(script.readAnswered(.notYet, at: 302).change == nil)
        let granted = script.readAnswered(.yes, at: 307)
        #expect(granted.change?.status == .granted)
        #expect(granted.change?.late == true)
    }

    @Test func anOperatorsRetryOfATimedOutPurchaseCanStillReject() {
        var script = Script.watching(since: 1)
        _ = script.woken(at: 60)
        script.retriedByHand()
        #expect(script.woken(at: 500) == Decision(next: .forward))
        let rejected = script.forwardAnswered(.rejected(code: "E1", message: nil), at: 501)
        #expect(rejected.change?.status == .rejected)
        #expect(rejected.change?.late == true)
        #expect(rejected.kinds == [.forwarded, .rejected])
    }
}
