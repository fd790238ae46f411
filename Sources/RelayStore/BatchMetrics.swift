import Metrics

/// How many elements share a statement: the more at once, the less each costs.
public struct BatchSizes: Sendable {
    private let recorder: Recorder

    /// - Parameter name: of the batch, as its metric has it.
    public init(_ name: String) {
        recorder = Recorder(label: "relay_batch_size", dimensions: [("batch", name)], aggregate: true)
    }

    public func record(_ count: Int) { recorder.record(count) }
}
