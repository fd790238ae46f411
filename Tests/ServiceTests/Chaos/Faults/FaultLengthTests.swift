import Relay
import Testing

@Suite("Lengths of faults")
struct FaultLengthTests {
    @Test("those that take a lease away outlast it")
    func outlasting() {
        let lease = PursuitSettings.standardLease
        for fault in [Fault.databaseStopped, .copyFrozen, .networkSilent, .networkDeaf, .networkCut] {
            #expect(.seconds(fault.seconds.short) > lease, "\(fault)")
        }
        #expect(.seconds(Fault.upstreamHangs.upstreamTimeout) > lease)
        #expect(.milliseconds(Model.PlanGenerator.pastLease) > lease)
    }
}
