import RelayCore
import TestRun
import Testing

/// Random lives of a subscription: bought, upgraded, downgraded, renewed, refunded, transferred. Statements arrive
/// late, twice, in any order or never, with and without a catalogue.
@Suite("Access follows the statements of the store and Cleeng", .serialized) struct AccessLifeTests {
    private static let lives: UInt64 = 4_000
    private static let parts: UInt64 = 8

    @Test("in each of many lives", arguments: 0..<parts)
    func lives(part: UInt64) async {
        let end = TestRun.isWhole ? Self.lives : Self.lives / 4
        for seed in stride(from: part, to: end, by: Int(Self.parts)) {
            // Other tests run concurrently and have deadlines.
            await Task.yield()
            var life = AccessLife(seed: seed)
            life.run()
            #expect(life.problems.isEmpty, "seed \(seed): \(life.problems)\n\(life.story.joined(separator: "\n"))")
            if !life.problems.isEmpty { return }
        }
    }

    /// A check that no fault can break proves nothing.
    @Test("and each planted fault shows in one of them", arguments: AccessLife.Fault.allCases)
    func faultIsNoticed(_ fault: AccessLife.Fault) async {
        for seed in 0..<Self.lives {
            await Task.yield()
            var life = AccessLife(seed: seed, fault: fault)
            life.run()
            if !life.problems.isEmpty { return }
        }
        Issue.record("\(Self.lives) lives do not show \(fault)")
    }
}
