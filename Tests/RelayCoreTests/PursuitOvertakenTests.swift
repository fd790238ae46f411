import Testing

@testable import RelayCore

struct PursuitOvertakenTests {
    /// A try without an answer: Cleeng may have accepted the purchase.
    private static func tried() -> Script {
        var script = Script()
        _ = script.forwardAnswered(.tryAgain(why: "timeout", retryAfter: nil), at: 3)
        return script
    }

    @Test func anOvertakenPurchaseThatWasNeverTriedTimesOutAndEnds() {
        var script = Script()
        let decision = script.overtaken(at: 4)
        #expect(
            decision.change
                == Decision.Change(status: .timedOut, reason: "superseded", late: false, at: Script.second(4)))
        #expect(decision.kinds == [.superseded])
        #expect(decision.events.map(\.at) == [Script.second(4)])
        #expect(decision.next == .finished)
        #expect(script.pursuit.status == .timedOut)
    }

    @Test func anOvertakenPurchaseThatMayHaveReachedCleengIsWatched() {
        var script = Self.tried()
        let decision = script.overtaken(at: 4)
        #expect(decision.change?.status == .timedOut)
        #expect(decision.change?.reason == "superseded")
        #expect(decision.kinds == [.superseded])
        #expect(decision.restsUntil == 4)
        #expect(script.pursuit.phase == .watching)
        #expect(script.woken(at: 4).next == .read, "it is read for, and never sent")
    }

    /// The app has already received the rejection, so a grant is late even before the deadline.
    @Test(arguments: [10, 70] as [Double])
    func anOvertakenPurchaseIsGrantedLate(second: Double) {
        var script = Self.tried()
        _ = script.overtaken(at: 4)
        _ = script.woken(at: second)
        let decision = script.readAnswered(.entitled(expiresAt: nil, evidence: "{}"), at: second)
        #expect(decision.change?.status == .granted)
        #expect(decision.change?.late == true)
        #expect(decision.change?.at == Script.second(second))
        #expect(decision.next == .finished)
    }

    @Test func theWatchOfAnOvertakenPurchaseEnds() {
        var script = Self.tried()
        let end = 90_000.0
        _ = script.overtaken(at: end)
        let early = script.readAnswered(.notEntitled(evidence: "{}"), at: end + 1)
        #expect(early.restsUntil.map { $0 > end + 1 } == true, "it lasts from when it was overtaken")
        let late = script.readAnswered(.notEntitled(evidence: "{}"), at: end + 86_401)
        #expect(late.next == .finished)
        #expect(late.change == nil)
    }

    @Test func anOvertakenPurchaseThatHadTimedOutGetsTheReason() {
        var script = Self.tried()
        _ = script.woken(at: 60)
        let decision = script.overtaken(at: 90)
        #expect(decision.change?.status == .timedOut)
        #expect(decision.change?.reason == "superseded")
        #expect(decision.change?.evidence == nil)
        #expect(decision.change?.at == Script.deadline, "when it settled, not when it was overtaken")
        #expect(decision.events.map(\.at) == [Script.second(90)])
        #expect(decision.kinds == [.superseded])
        #expect(script.pursuit.status == .timedOut)
    }

    /// No worker ran between the deadline and second 90.
    @Test(arguments: [60, 90] as [Double])
    func anOvertakenPurchaseWhoseTimeOutWasNotWrittenYetTimesOutFirst(second: Double) {
        var script = Self.tried()
        let decision = script.overtaken(at: second)
        #expect(
            decision.change
                == Decision.Change(status: .timedOut, reason: "superseded", late: false, at: Script.deadline))
        #expect(decision.kinds == [.timedOut, .superseded])
        #expect(decision.events.map(\.at) == [Script.deadline, Script.second(second)])
        #expect(script.pursuit.status == .timedOut)
    }

    /// An operator retried the purchase, and that try may have reached Cleeng.
    @Test(arguments: [10, 59.999_999, 60, 300] as [Double])
    func anOvertakenPurchaseThatWasRejectedStaysRejectedAndIsWatched(second: Double) {
        var script = Script()
        _ = script.forwardAnswered(.rejected(code: "E1", message: nil), at: 1)
        script.retriedByHand()
        let decision = script.overtaken(at: second)
        #expect(decision.change == nil)
        #expect(decision.kinds == [.superseded])
        #expect(decision.events.map(\.at) == [Script.second(second)])
        #expect(decision.restsUntil == second)
        #expect(script.pursuit.status == .rejected)
        #expect(script.pursuit.phase == .watching)
    }
}
