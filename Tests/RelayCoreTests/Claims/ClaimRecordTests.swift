import RelayCore
import Testing

@Suite("Strikes and failures of a claimed row")
struct ClaimRecordTests {
    @Test("the fifth failure parks it, and the pauses before grow")
    func failures() {
        let pauses = (0..<6).map { ClaimRecord(failures: $0).pauseAfterFailure }
        #expect(pauses[4] == nil && pauses[5] == nil)
        let waits = pauses.compactMap(\.self)
        #expect(waits.count == 4 && waits == waits.sorted())
    }

    @Test("the third strike parks it; after the second it is processed alone")
    func strikes() {
        #expect((0..<5).map { ClaimRecord(strikes: $0).isDeadly } == [false, false, false, true, true])
        #expect((0..<5).map { ClaimRecord(strikes: $0).isSuspect } == [false, false, true, true, true])
    }
}
