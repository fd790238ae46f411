import Testing

@testable import RelayCore

struct PursuitDeadlineTests {
    static let timedOut = Decision.Change(status: .timedOut, late: false, at: Script.deadline)
    static let timedOutEvent = TimelineEvent(at: Script.deadline, kind: .timedOut)

    @Test func aPauseEndsAtTheDeadlineEvenBeforeTheNextRead() {
        var script = Script.watching(since: 1)
        #expect(script.readAnswered(.notYet, at: 57).restsUntil == 60)

        let woken = script.woken(at: 60)
        #expect(woken.change == Self.timedOut)
        #expect(woken.events == [Self.timedOutEvent])
        #expect(woken.restsUntil == 62, "the read stays where it was planned")
        #expect(script.pursuit.status == .timedOut)

        #expect(script.woken(at: 61) == Decision(next: .rest(until: Script.second(62))), "it is written once")
    }

    @Test func aPauseEndsAtTheDeadlineEvenBeforeTheNextForward() {
        var script = Script()
        let failed = script.forwardAnswered(.tryAgain(why: "HTTP 503", retryAfter: .seconds(600)), at: 2)
        #expect(failed.restsUntil == 60)
        let woken = script.woken(at: 60)
        #expect(woken.change == Self.timedOut)
        #expect(woken.restsUntil == 602)
        #expect(script.woken(at: 602).next == .forward)
    }

    @Test func theLastMicrosecondBeforeTheDeadlineIsStillInTime() {
        var early = Script.watching(since: 1)
        #expect(early.readAnswered(.yes, at: 59.999_999).change?.late == false)
        var late = Script.watching(since: 1)
        #expect(late.readAnswered(.yes, at: 60).change?.late == true)
    }

    /// All workers died at second 30, and one returns ten minutes after the deadline.
    @Test func aWorkerThatComesLateWritesTheDeadlineAsTheTime() {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 26)
        let woken = script.woken(at: 660)
        #expect(woken.change == Self.timedOut)
        #expect(woken.events == [Self.timedOutEvent])
        #expect(woken.next == .read)
    }

    @Test func aPurchaseThatWasNeverSentTimesOutAndIsStillSent() {
        var script = Script()
        let woken = script.woken(at: 75)
        #expect(woken.change == Self.timedOut)
        #expect(woken.next == .forward)
        let forwarded = script.forwardAnswered(.accepted, at: 76)
        #expect(forwarded.change == nil)
        #expect(forwarded.next == .read)
        let granted = script.readAnswered(.yes, at: 77)
        #expect(granted.change?.status == .granted)
        #expect(granted.change?.late == true)
        #expect(granted.kinds == [.entitlementRead, .granted])
    }

    /// Second 58: the read is sent. Second 60: the deadline. Second 61: the answer is yes.
    @Test func aYesAfterTheDeadlineIsATimeoutAndALateGrant() {
        var script = Script.watching(since: 1)
        let decision = script.readAnswered(.yes, sent: 58, at: 61)
        #expect(
            decision.change
                == Decision.Change(
                    status: .granted, late: true, at: Script.second(61), evidence: #"{"status":"active"}"#,
                    observedAt: Script.second(58)))
        #expect(decision.kinds == [.entitlementRead, .timedOut, .granted])
        #expect(decision.events.map(\.at) == [Script.second(61), Script.deadline, Script.second(61)])
        #expect(decision.next == .finished)
    }

    @Test(arguments: [.notYet, .noAnswer, .misconfigured(message: nil)] as [EntitlementAnswer.Verdict])
    func anyOtherReadAfterTheDeadlineIsATimeout(verdict: EntitlementAnswer.Verdict) {
        var script = Script.watching(since: 1)
        let decision = script.readAnswered(verdict, sent: 58, at: 61)
        #expect(decision.change == Self.timedOut)
        #expect(decision.events.last == Self.timedOutEvent)
        #expect(decision.restsUntil == 63, "an interval after it was sent")
    }

    @Test(
        arguments: [
            .accepted, .misconfigured(message: nil), .tryAgain(why: "timeout", retryAfter: nil),
        ] as [ForwardAnswer.Verdict])
    func aForwardsAnswerAfterTheDeadlineIsATimeout(verdict: ForwardAnswer.Verdict) {
        var script = Script()
        _ = script.woken(at: 59)
        let decision = script.forwardAnswered(verdict, at: 60)
        #expect(decision.change == Self.timedOut)
        #expect(decision.events.count == 2)
        #expect(decision.events.last == Self.timedOutEvent)
    }

    @Test func aReadPostponedPastTheDeadlineDoesNotKeepThePursuitPending() {
        var script = Script.watching(since: 1)
        #expect(script.readPostponed(to: 63, at: 59).restsUntil == 60)
        let woken = script.woken(at: 60)
        #expect(woken.change == Self.timedOut)
        #expect(woken.restsUntil == 63)

        var postponedLate = Script.watching(since: 1)
        let decision = postponedLate.readPostponed(to: 63, at: 61)
        #expect(decision.change == Self.timedOut)
        #expect(decision.restsUntil == 63)
    }

    @Test func aGrantDuringTheWatchIsLate() {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 58)
        _ = script.woken(at: 60)
        _ = script.readAnswered(.notYet, at: 63)
        let decision = script.readAnswered(.yes, at: 71)
        #expect(decision.change?.status == .granted)
        #expect(decision.change?.late == true)
        #expect(decision.change?.at == Script.second(71))
        #expect(decision.kinds == [.entitlementRead, .granted])
        #expect(decision.next == .finished)
    }

    @Test func silenceIsNoRejection() {
        var script = Script.watching(since: 1)
        var statuses: Set<ValidationStatus> = []
        var next = Decision.Next.read
        var at = 1.0
        for _ in 0..<1_000 {
            let decision = next == .read ? script.readAnswered(.noAnswer, at: at) : script.woken(at: at)
            statuses.insert(script.pursuit.status)
            next = decision.next
            at = decision.restsUntil ?? at
        }
        #expect(statuses == [.pending, .timedOut])
        #expect(next != .finished, "nor is it an end")
        #expect(at > 10 * 86_400)
    }
}
