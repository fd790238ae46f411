import RelayCore
import Testing

/// Random lives of a subscription: bought, upgraded, downgraded, renewed, refunded, transferred, with statements that come late, twice, in any
/// order or never, with and without a catalogue.
@Suite("Access follows what the store and Cleeng say") struct AccessLifeTests {
    private static let lives: UInt64 = 10_000
    private static let parts: UInt64 = 8

    @Test("in ten thousand lives", arguments: 0..<parts)
    func lives(part: UInt64) {
        for seed in stride(from: part, to: Self.lives, by: Int(Self.parts)) {
            var life = AccessLife(seed: seed)
            life.run()
            #expect(life.problems.isEmpty, "seed \(seed): \(life.problems)\n\(life.story.joined(separator: "\n"))")
            if !life.problems.isEmpty { return }
        }
    }

    /// A property that nothing can break says nothing.
    @Test("and each planted fault shows in one of them", arguments: AccessLife.Fault.allCases)
    func faultIsNoticed(_ fault: AccessLife.Fault) {
        let isNoticed = (0..<Self.lives).contains { seed in
            var life = AccessLife(seed: seed, fault: fault)
            life.run()
            return !life.problems.isEmpty
        }
        #expect(isNoticed)
    }
}
