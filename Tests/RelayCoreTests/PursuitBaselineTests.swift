import RelayCore
import Testing

/// The read before the first forward.
struct PursuitBaselineTests {
    @Test(
        arguments: [(.yes, true, "entitled"), (.notYet, false, "not entitled")]
            as [(EntitlementAnswer.Verdict, Bool, String)])
    func itIsRecordedAndDecidesNothing(verdict: EntitlementAnswer.Verdict, entitled: Bool, detail: String) {
        var script = Script()
        var expected = script.pursuit
        expected.entitledBefore = entitled
        let event = script.baselineRead(verdict, at: 0.05)
        #expect(
            event
                == TimelineEvent(
                    at: Script.second(0.05), kind: .baselineRead, upstreamStatus: 200, latency: .milliseconds(40),
                    detail: detail))
        #expect(script.pursuit == expected, "nothing but the record changes")
        #expect(script.woken(at: 0.06).next == .forward)
    }

    @Test(
        arguments: [
            (.noAnswer, "timeout"), (.misconfigured(message: "bad token"), "our configuration: bad token"),
        ] as [(EntitlementAnswer.Verdict, String)])
    func aFailingOneLeavesItUnknown(verdict: EntitlementAnswer.Verdict, detail: String) {
        var script = Script()
        let before = script.pursuit
        let event = script.baselineRead(verdict, at: 0.05)
        #expect(event.kind == .baselineRead)
        #expect(event.detail == detail)
        #expect(script.pursuit == before)
        #expect(script.pursuit.entitledBefore == nil)
    }

    @Test func aCustomerWhoWasEntitledBeforeStillNeedsAReadAfterTheForward() {
        var script = Script()
        _ = script.baselineRead(.yes, at: 0.05)
        #expect(script.forwardAnswered(.accepted, at: 0.2).change == nil)
        #expect(script.pursuit.status == .pending)
        #expect(script.pursuit.entitledBefore == true)
        #expect(script.readAnswered(.yes, at: 0.3).change?.status == .granted)
    }
}
