import Metrics

/// Metric of batch sizes. The more elements share a statement, the less each costs.
public struct BatchSizes: Sendable {
    private let recorder: Recorder

    /// - Parameter name: the batch's name in the metric.
    public init(_ name: String) {
        recorder = Recorder(label: "relay_batch_size", dimensions: [("batch", name)], aggregate: true)
    }

    public func record(_ count: Int) { recorder.record(count) }
}
