import RelayCore
import Testing

struct PursuitOvertakenTests {
    @Test func anOvertakenPurchaseTimesOutAtOnceAndIsOver() {
        var script = Script()
        _ = script.forwardAnswered(.tryAgain(why: "timeout", retryAfter: nil), at: 3)
        let decision = script.overtaken(at: 4)
        #expect(
            decision.change
                == Decision.Change(status: .timedOut, reason: "superseded", late: false, at: Script.second(4)))
        #expect(decision.kinds == [.superseded])
        #expect(decision.events.map(\.at) == [Script.second(4)])
        #expect(decision.next == .finished)
        #expect(script.pursuit.status == .timedOut)
    }

    @Test func anOvertakenPurchaseThatHadTimedOutStaysTimedOutAndSaysWhy() {
        var script = Script()
        _ = script.forwardAnswered(.tryAgain(why: "timeout", retryAfter: nil), at: 3)
        _ = script.woken(at: 60)
        let decision = script.overtaken(at: 90)
        #expect(decision.change?.status == .timedOut)
        #expect(decision.change?.reason == "superseded")
        #expect(decision.change?.evidence == nil)
        #expect(decision.change?.at == Script.deadline, "when it settled, not when it was overtaken")
        #expect(decision.events.map(\.at) == [Script.second(90)])
        #expect(decision.kinds == [.superseded])
        #expect(decision.next == .finished)
        #expect(script.pursuit.status == .timedOut)
    }

    /// No worker came between the deadline and second 90.
    @Test(arguments: [60, 90] as [Double])
    func anOvertakenPurchaseWhoseTimeOutWasNotWrittenYetTimesOutFirst(second: Double) {
        var script = Script()
        _ = script.forwardAnswered(.tryAgain(why: "timeout", retryAfter: nil), at: 3)
        let decision = script.overtaken(at: second)
        #expect(
            decision.change
                == Decision.Change(status: .timedOut, reason: "superseded", late: false, at: Script.deadline))
        #expect(decision.kinds == [.timedOut, .superseded])
        #expect(decision.events.map(\.at) == [Script.deadline, Script.second(second)])
        #expect(decision.next == .finished)
        #expect(script.pursuit.status == .timedOut)
    }

    @Test(arguments: [10, 59.999_999, 60, 300] as [Double])
    func anOvertakenPurchaseThatWasRejectedStaysRejected(second: Double) {
        var script = Script()
        _ = script.forwardAnswered(.rejected(code: "E1", message: nil), at: 1)
        script.retriedByHand()
        let before = script.pursuit
        let decision = script.overtaken(at: second)
        #expect(decision.change == nil)
        #expect(decision.kinds == [.superseded])
        #expect(decision.events.map(\.at) == [Script.second(second)])
        #expect(decision.next == .finished)
        #expect(script.pursuit == before)
    }
}
