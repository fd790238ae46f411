import RelayCore
import Testing

/// The status by the clock, whether or not a worker has written it.
struct JudgedValidationTests {
    private func validation(_ status: ValidationStatus) -> Validation {
        Validation(
            id: ValidationID(bucket: Bucket(number: 7), day: 20_777, high: 1, low: 2), publisher: "acme", app: "player",
            email: " Ana@Example.test", customer: "ana@example.test", offerID: "S1_US", status: status,
            acceptedAt: Script.acceptedAt, deadline: Script.deadline)
    }

    @Test(arguments: [0, 30, 59.999_999]) func beforeTheDeadlinePendingStaysPending(second: Double) {
        let pending = validation(.pending)
        #expect(pending.judged(at: Script.second(second)) == pending)
    }

    @Test(arguments: [60, 60.000_001, 61, 1e6]) func atTheDeadlineAndEverAfterPendingIsTimedOut(second: Double) {
        var expected = validation(.pending)
        expected.status = .timedOut
        expected.settledAt = Script.deadline
        let judged = validation(.pending).judged(at: Script.second(second))
        #expect(judged == expected)
        #expect(judged.reason == nil)
        #expect(!judged.late)
    }

    @Test(arguments: ValidationStatus.allCases.filter { $0 != .pending }, [0, 60, 1e6])
    func anythingElseIsToldAsItIs(status: ValidationStatus, second: Double) {
        var settled = validation(status)
        settled.settledAt = Script.second(20)
        settled.reason = "why"
        settled.late = true
        #expect(settled.judged(at: Script.second(second)) == settled)
    }

    @Test func whatIsJudgedTwiceIsTheSame() {
        let once = validation(.pending).judged(at: Script.second(70))
        #expect(once.judged(at: Script.second(80)) == once)
    }

    /// The status that a reader gets by the clock must be the one that the worker writes later.
    @Test func theJudgedStatusIsTheOneWrittenLater() {
        var script = Script.watching(since: 1)
        let written = script.woken(at: 75).change
        let told = validation(.pending).judged(at: Script.second(75))
        #expect(written?.status == told.status)
        #expect(written?.at == told.settledAt)
        #expect(written?.reason == told.reason)
        #expect(written?.late == told.late)
    }
}
