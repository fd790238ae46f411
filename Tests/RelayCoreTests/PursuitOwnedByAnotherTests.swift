import Testing

@testable import RelayCore

/// A purchase whose subscription belongs, or will belong, to another customer, while the publisher allows no transfers.
struct PursuitOwnedByAnotherTests {
    @Test func itIsRejectedAndNeverSent() {
        var script = Script()
        let decision = script.ownedByAnother(at: 4)
        #expect(
            decision.change
                == Decision.Change(
                    status: .rejected, reason: "owned_by_another", late: false, at: Script.second(4)))
        #expect(decision.kinds == [.rejected])
        #expect(decision.next == .finished)
        #expect(script.pursuit.forwards == 0)
    }

    /// The app received the timeout at the deadline: a later outcome is late.
    @Test func afterTheDeadlineTheRejectionIsLate() {
        var script = Script()
        let decision = script.ownedByAnother(at: 61)
        #expect(decision.change?.status == .rejected)
        #expect(decision.change?.late == true)
        #expect(decision.kinds == [.timedOut, .rejected])
        #expect(decision.next == .finished)
    }

    /// The copy that claimed it was killed: nobody knows whether it had sent the purchase.
    @Test func afterATryItIsWatchedAndNotSentAgain() {
        var script = Script()
        _ = script.woken(at: 1)
        _ = script.forwardAnswered(.tryAgain(why: "timeout", retryAfter: nil), at: 2)
        let decision = script.ownedByAnother(at: 4)
        #expect(decision.change == nil && decision.kinds.isEmpty)
        #expect(decision.restsUntil == 4)
        #expect(script.woken(at: 4).next == .read)
        let granted = script.readAnswered(.yes, at: 4)
        #expect(granted.change?.status == .granted && granted.change?.late == false)
    }

    @Test func aPurchaseThatWaitsForAnOwnerIsReadAndNotSent() {
        var script = Script()
        let decision = script.waits(until: 9, at: 4)
        #expect(decision.change == nil)
        #expect(decision.kinds.isEmpty)
        #expect(decision.restsUntil == 9)
        #expect(script.pursuit.status == .pending)
        #expect(script.pursuit.phase == .forwarding)
        #expect(script.woken(at: 8).restsUntil == 9)
        #expect(script.woken(at: 9).next == .forward)
    }

    @Test func aWaitingPurchaseTimesOutAtTheDeadline() {
        var script = Script()
        #expect(script.waits(until: 62, at: 57).restsUntil == 60, "it wakes for its deadline")
        let decision = script.waits(until: 66, at: 61)
        #expect(decision.change?.status == .timedOut)
        #expect(decision.change?.at == Script.second(60))
        #expect(decision.restsUntil == 66)
    }
}
