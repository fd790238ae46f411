import Foundation
import NIOConcurrencyHelpers
import Testing

/// Random sequences against the real service. A failure prints a seed that can be run again:
///
///     scripts/model --seed SEED --steps STEPS
@Suite(.serialized) struct ModelTests {
    /// Sequences that run by default. They are always the same, so that a failure comes from a change of the code.
    /// `scripts/model` runs random ones. Each of these once found a fault: a frozen copy that sent a request whose
    /// subscription had a newer owner, a refusal of a purchase that an earlier try had brought to Cleeng, an operator's
    /// call without an answer. A change of the generator changes the plan of a seed.
    static let state: [(seed: UInt64, steps: Int)] = [(5_003, 20), (771_784_564, 20), (141_083_512, 20)]

    @Test func randomSequencesKeepEveryTruth() async throws {
        let settings = try Model.ModelSettings()
        let end = settings.minutes.map { ContinuousClock.now + .seconds($0 * 60) }
        let first = settings.seed ?? UInt64.random(in: 0..<1_000_000_000)
        let known = settings.isAsked ? [] : Self.state
        let plans = NIOLockedValueBox(
            ModelPlans(
                known: known, next: first, steps: settings.steps, left: end == nil ? settings.runs - known.count : .max)
        )
        let sum = NIOLockedValueBox(ModelSum())
        say(
            known.isEmpty
                ? "model: seeds from \(first) on, \(settings.steps) steps each" : "model: the state sequences")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<settings.width {
                group.addTask {
                    while end.map({ ContinuousClock.now < $0 }) ?? true,
                        let (plan, steps) = plans.withLockedValue({ $0.draw() })
                    {
                        await Self.hold(plan, "seed \(plan.seed), \(steps) steps", settings, sum)
                    }
                }
            }
        }
        say("model: \(sum.withLockedValue { $0 })")
    }

    private static func hold(
        _ plan: Model.Plan, _ name: String, _ settings: Model.ModelSettings, _ sum: NIOLockedValueBox<ModelSum>
    ) async {
        do {
            let history = try await Model.Sequence.run(plan)
            let violations = Model.Judge.violations(of: history)
            sum.withLockedValue { $0.add(history, violations) }
            guard !violations.isEmpty else { return }
            say(ModelReport.text(plan, history, violations))
            let truths = Set(violations.map(\.truth))
            let shorter = try await Model.PlanShrinker.shrink(plan, attempts: settings.shrinks) { candidate in
                let again = Model.Judge.violations(of: try await Model.Sequence.run(candidate))
                return !truths.isDisjoint(with: again.map(\.truth))
            }
            if shorter.steps.count < plan.steps.count { say("model: fails also as a shorter \(shorter)") }
            Issue.record("\(name): \(violations[0])")
        } catch {
            Issue.record("\(name): \(error)")
        }
    }
}

/// Prints without buffering, since a long run is watched, also in a file.
private func say(_ text: String) {
    print(text)
    fflush(nil)
}

/// Source of plans: the fixed ones first, then those of consecutive seeds.
private struct ModelPlans: Sendable {
    var known: [(seed: UInt64, steps: Int)]
    var next: UInt64
    let steps: Int
    var left: Int

    mutating func draw() -> (plan: Model.Plan, steps: Int)? {
        if !known.isEmpty {
            let (seed, steps) = known.removeFirst()
            return (Model.Plan(seed: seed, length: steps), steps)
        }
        guard left > 0 else { return nil }
        left -= 1
        defer { next &+= 1 }
        return (Model.Plan(seed: next, length: steps), steps)
    }
}
