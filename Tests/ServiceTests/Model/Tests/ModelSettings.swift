import Foundation

extension Model {
    /// Amount of work, from the environment. By default a little.
    struct ModelSettings: Sendable {
        /// First seed; each further run has the next number. `nil` is a random seed.
        var seed: UInt64?
        var runs: Int
        /// False if the environment sets no seed, minutes or runs. Then the fixed sequences run.
        let isAsked: Bool
        /// Length of each plan.
        var steps: Int
        /// Minutes to run, instead of a number of runs.
        var minutes: Double?
        /// Number of concurrent sequences.
        var width: Int
        /// Limit of runs for making a failing plan shorter.
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
            runs = asked ?? (isAsked ? 1 : ModelTests.state.count)
            steps = try number("STEPS") ?? 20
            width = try number("WIDTH") ?? 3
            shrinks = try number("SHRINKS") ?? 6
        }
    }
}
