import Foundation
import Testing

/// Settings of a run of the tests, which `scripts/test` puts into the environment.
public enum TestRun {
    /// Whether the run is of all tests: `RELAY_TEST_ALL` is set.
    public static let isWhole = !(ProcessInfo.processInfo.environment["RELAY_TEST_ALL"] ?? "").isEmpty

    /// How much more time this machine needs than the one for which the limits in tests are chosen: `RELAY_TEST_PACE`, at least 1.
    public static let pace = max(1, ProcessInfo.processInfo.environment["RELAY_TEST_PACE"].flatMap { Double($0) } ?? 1)

    /// All values in a whole run, otherwise the first ones.
    public static func all<Value>(_ values: [Value], otherwise first: Int) -> [Value] {
        isWhole ? values : Array(values.prefix(first))
    }
}

extension Trait where Self == ConditionTrait {
    /// Of `scripts/test --all`, and not of `scripts/test`.
    public static var whole: Self { .enabled(if: TestRun.isWhole, "scripts/test --all runs it") }
}

extension TimeLimitTrait.Duration {
    /// Minutes on the machine for which limits are chosen; more on a slower one.
    public static func paced(minutes: Int) -> Self { .minutes(Int((Double(minutes) * TestRun.pace).rounded(.up))) }
}

extension Duration {
    /// A limit on the machine for which limits are chosen; longer on a slower one.
    public var paced: Duration { self * TestRun.pace }
}
