import TestRun
import Testing

/// The targets of `scripts/fuzz` with a limited number of corrupted inputs, the same in every run. A trap ends the
/// process: the target of the running test is at fault.
@Suite(.serialized) struct QuickFuzzTests {
    @Test(arguments: FuzzTarget.all.map(\.name)) func nothingFromOutsideTraps(name: String) async throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let seeds = target.seeds()
        #expect(!seeds.isEmpty)
        var mutator = Mutator(seeds, seed: 0x5EED)
        for input in seeds { try await target.run(input) }
        for number in 0..<(TestRun.isWhole ? 1_000 : 250) {
            let input = mutator.next()
            do {
                try await target.run(input)
            } catch {
                Issue.record("input \(number), \(input.count) bytes: \(error)")
                return
            }
        }
    }

    @Test func everyTargetHasItsOwnName() {
        #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
    }
}
