import Foundation

extension Model {
    /// How much is run, from the environment: a little unless somebody asks for more.
    struct ModelSettings: Sendable {
        /// The first seed; each further run has the next one. Nil: fresh ones.
        var seed: UInt64?
        var runs: Int
        /// False where nobody asked for anything: then the standing sequences are run.
        let isAsked: Bool
        /// Of each plan.
        var steps: Int
        /// Runs until then, instead of a number of runs.
        var minutes: Double?
        /// Sequences at once.
        var width: Int
        /// Runs that may be spent to make a failing plan shorter.
        var shrinks: Int

        init(environment: [String: String] = ProcessInfo.processInfo.environment) throws {
            func number<T: LosslessStringConvertible>(_ name: String) throws -> T? {
                guard let text = environment["RELAY_MODEL_\(name)"], !text.isEmpty else { return nil }
                guard let number = T(text) else { throw HarnessError.failed("RELAY_MODEL_\(name)", [text]) }
                return number
            }
            seed = try number("SEED")
            minutes = try number("MINUTES")
            let asked: Int? = try number("RUNS")
            isAsked = seed != nil || minutes != nil || asked != nil
            runs = asked ?? (isAsked ? 1 : ModelTests.standing.count)
            steps = try number("STEPS") ?? 20
            width = try number("WIDTH") ?? 3
            shrinks = try number("SHRINKS") ?? 6
        }
    }
}
