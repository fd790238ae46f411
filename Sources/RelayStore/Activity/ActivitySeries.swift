public import RelayCore

/// How often things happened, in equal steps up to now.
public struct ActivitySeries: Sendable {
    /// The beginning of the first step.
    public var start: Timestamp
    public var step: Duration
    /// Each as long as there are steps. A kind that never happened is missing.
    public var counts: [ActivityKind: [Int]]

    public init(start: Timestamp, step: Duration, counts: [ActivityKind: [Int]]) {
        self.start = start
        self.step = step
        self.counts = counts
    }
}
