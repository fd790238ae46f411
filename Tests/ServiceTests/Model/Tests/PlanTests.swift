import Testing

/// Tests of making and shrinking plans.
@Suite struct PlanTests {
    @Test func theSameSeedGivesTheSamePlanAndAnotherAnother() {
        let plan = Model.Plan(seed: 7, length: 30)
        #expect(plan == Model.Plan(seed: 7, length: 30))
        #expect(plan.steps != Model.Plan(seed: 8, length: 30).steps)
        #expect(plan.steps.count >= 30)
        #expect(plan.description.split(separator: "\n").count == plan.steps.count + 1)
    }

    @Test func everyKindOfStepIsMade() {
        var kinds: [String: Int] = [:]
        for seed in 0..<100 as Range<UInt64> {
            for step in Model.Plan(seed: seed, length: 20).steps {
                switch step.action {
                case .post(_, _, let key, let copies):
                    kinds["post", default: 0] += 1
                    if key != nil { kinds["key", default: 0] += 1 }
                    if copies > 1 { kinds["burst", default: 0] += 1 }
                case .behave: kinds["behave", default: 0] += 1
                case .trouble: kinds["trouble", default: 0] += 1
                case .heal: kinds["heal", default: 0] += 1
                case .kill: kinds["kill", default: 0] += 1
                case .stop: kinds["stop", default: 0] += 1
                case .freeze: kinds["freeze", default: 0] += 1
                case .retry: kinds["retry", default: 0] += 1
                case .abandon: kinds["abandon", default: 0] += 1
                case .pass: kinds["pass", default: 0] += 1
                }
            }
        }
        #expect(kinds.count == 12)
        #expect(kinds.values.allSatisfy { $0 > 5 }, "\(kinds)")
    }

    @Test func aFailingPlanShrinksToWhatFails() async {
        var plan = Model.Plan(seed: 3, length: 40)
        plan.steps.removeAll { if case .kill = $0.action { true } else { false } }
        plan.steps.insert(.init(after: 5, action: .kill(copy: 1)), at: 17)
        func fails(_ plan: Model.Plan) -> Bool { plan.steps.contains { $0.action == .kill(copy: 1) } }
        let shrunk = await Model.PlanShrinker.shrink(plan, attempts: 100) { fails($0) }
        #expect(shrunk.steps.map(\.action) == [.kill(copy: 1)])
        // Shrinking is bounded, and never returns a plan that passes.
        var attempts = 0
        let less = await Model.PlanShrinker.shrink(plan, attempts: 3) { candidate in
            attempts += 1
            return fails(candidate)
        }
        #expect(attempts == 3)
        #expect(fails(less) && less.steps.count < plan.steps.count)
        #expect(await Model.PlanShrinker.shrink(plan, attempts: 50) { _ in false } == plan)
    }
}
