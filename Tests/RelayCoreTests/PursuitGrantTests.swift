import Testing

@testable import RelayCore

struct PursuitGrantTests {
    @Test func thePurchaseIsSentThenReadThenGranted() {
        var script = Script()

        let woken = script.woken(at: 0.01)
        #expect(woken == Decision(next: .forward))

        let forwarded = script.forwardAnswered(.accepted, status: 200, at: 0.2)
        #expect(forwarded.next == .read)
        #expect(forwarded.change == nil, "a 200 to the forward is no grant")
        #expect(
            forwarded.events == [
                TimelineEvent(
                    at: Script.second(0.2), kind: .forwarded, upstreamStatus: 200, latency: .milliseconds(120))
            ])
        #expect(script.pursuit.phase == .watching)
        #expect(script.pursuit.watchedSince == Script.second(0.2))
        #expect(script.pursuit.forwards == 1)

        let expiry = Timestamp(seconds: 1_800_000_000)
        let granted = script.readAnswered(
            .entitled(expiresAt: expiry, evidence: #"{"status":"active"}"#), sent: 0.3, at: 0.4)
        #expect(granted.next == .finished)
        #expect(
            granted.change
                == Decision.Change(
                    status: .granted, late: false, at: Script.second(0.4), expiresAt: expiry,
                    evidence: #"{"status":"active"}"#, observedAt: Script.second(0.3)))
        #expect(granted.kinds == [.entitlementRead, .granted])
        #expect(granted.events.map(\.detail) == ["entitled", nil])
        #expect(granted.events.first?.upstreamStatus == 200)
        #expect(granted.events.first?.latency == .milliseconds(80))
        #expect(script.pursuit.status == .granted)
    }

    @Test func theFirstReadFollowsTheForwardAtOnceAfterAnyFailures() {
        var script = Script()
        _ = script.forwardAnswered(.tryAgain(why: "timeout", retryAfter: nil), at: 20)
        _ = script.forwardAnswered(.misconfigured(message: nil), at: 22)
        #expect(script.pursuit.retryAt != nil)
        #expect(script.forwardAnswered(.accepted, at: 31).next == .read)
        #expect(script.pursuit.retryAt == nil)
        #expect(script.woken(at: 31.5).next == .read, "the read is due until it has been made")
        #expect(script.pursuit.forwards == 3)
    }

    /// Second 1: a read, and the next one planned for second 6. Second 2: sent again. The worker dies, and another
    /// continues at second 3.
    @Test func aReadPlannedBeforeTheForwardDoesNotDelayTheFirstOneAfterIt() {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 1)
        script.pursuit.phase = .forwarding
        _ = script.forwardAnswered(.accepted, at: 2)
        #expect(script.woken(at: 3).next == .read)
    }

    @Test func readsContinueEveryIntervalUntilTheGrant() {
        var script = Script.watching(since: 0.2)
        var at = 0.3
        for _ in 1...5 {
            let decision = script.readAnswered(.notYet, at: at)
            #expect(decision.change == nil)
            #expect(decision.kinds == [.entitlementRead])
            #expect(decision.restsUntil == at + 5)
            #expect(script.woken(at: at + 4.9).restsUntil == at + 5, "woken too early, it goes on resting")
            at += 5
            #expect(script.woken(at: at).next == .read)
        }
        let granted = script.readAnswered(.yes, at: at)
        #expect(granted.change?.status == .granted)
        #expect(granted.change?.late == false)
        #expect(granted.next == .finished)
    }

    @Test(arguments: [.noAnswer, .misconfigured(message: "bad token"), .notYet] as [EntitlementAnswer.Verdict])
    func aReadWithoutAGrantDecidesNothingAndIsRepeated(verdict: EntitlementAnswer.Verdict) {
        var script = Script.watching(since: 1)
        for at in [1.0, 6, 11, 16] {
            let decision = script.readAnswered(verdict, at: at)
            #expect(decision.change == nil)
            #expect(decision.restsUntil == at + 5)
            #expect(decision.events.count == 1)
        }
        #expect(script.pursuit.status == .pending)
        #expect(script.readAnswered(.yes, at: 21).change?.status == .granted)
    }

    @Test func aFailedReadDiffersFromANo() {
        var script = Script.watching(since: 1)
        #expect(script.readAnswered(.notYet, at: 1).events.map(\.detail) == ["not entitled"])
        let failed = script.readAnswered(.noAnswer, at: 6)
        #expect(failed.kinds == [.entitlementReadFailed])
        #expect(failed.events.map(\.detail) == ["timeout"])
        let refused = script.readAnswered(.misconfigured(message: "bad token"), at: 11)
        #expect(refused.kinds == [.entitlementReadFailed])
        #expect(refused.events.map(\.detail) == ["our configuration: bad token"])
    }

    @Test func aReadIsNotRepeatedBeforeTheUpstreamAllowsIt() {
        var script = Script.watching(since: 1)
        let decision = script.readAnswered(.tryAgain(why: "HTTP 429", retryAfter: .seconds(30)), at: 1)
        #expect(decision.restsUntil == 31)
        #expect(script.readAnswered(.tryAgain(why: "HTTP 429", retryAfter: .seconds(2)), at: 31).restsUntil == 36)
        let pastTheDeadline = script.readAnswered(.tryAgain(why: "HTTP 429", retryAfter: .seconds(300)), at: 36)
        #expect(pastTheDeadline.restsUntil == 60, "the deadline is written in between")
        #expect(script.woken(at: 60).restsUntil == 336)
        #expect(script.woken(at: 336).next == .read)
    }

    @Test func aPostponedReadIsMadeWhenItIsAllowed() {
        var script = Script.watching(since: 1)
        #expect(script.readPostponed(to: 3.5, at: 1) == Decision(next: .rest(until: Script.second(3.5))))
        #expect(script.woken(at: 3.4).restsUntil == 3.5)
        #expect(script.woken(at: 3.5).next == .read)
        #expect(script.pursuit.status == .pending)
    }

    /// A read for another validation of the same customer, at second 3, is an answer for this one too.
    @Test func aReadThatWasNotDueYetCountsToo() {
        var script = Script.watching(since: 1)
        _ = script.readAnswered(.notYet, at: 1)
        #expect(script.readAnswered(.notYet, at: 3).restsUntil == 8)
        #expect(script.readAnswered(.yes, at: 4).change?.status == .granted)
    }
}
