extension Model {
    /// Looks for a shorter plan that also fails (delta debugging). It leaves out halves, then ever smaller pieces, in
    /// at most `attempts` runs. If the failure does not repeat, the plan stays unchanged.
    enum PlanShrinker {
        static func shrink(
            _ plan: Plan, attempts: Int, fails: (Plan) async throws -> Bool
        ) async rethrows -> Plan {
            var best = plan
            var left = attempts
            var pieces = 2
            while left > 0, best.steps.count >= 2, pieces <= best.steps.count {
                var isShorter = false
                for candidate in candidates(best, pieces: pieces) {
                    guard left > 0 else { return best }
                    left -= 1
                    if try await fails(candidate) {
                        best = candidate
                        isShorter = true
                        break
                    }
                }
                pieces = isShorter ? 2 : pieces * 2
            }
            return best
        }

        /// Plans without one of the pieces. The plan without the last piece comes first, since most failures need only
        /// a prefix.
        static func candidates(_ plan: Plan, pieces: Int) -> [Plan] {
            let count = plan.steps.count
            return (0..<pieces).reversed().compactMap { piece in
                let gone = (piece * count / pieces)..<((piece + 1) * count / pieces)
                guard !gone.isEmpty, gone.count < count else { return nil }
                var shorter = plan
                shorter.steps.removeSubrange(gone)
                return shorter
            }
        }
    }
}
