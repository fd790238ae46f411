import NIOConcurrencyHelpers

/// Cached metrics for each set of labels. For frequent metrics, finding one by its labels costs more than recording it.
final class KeptMetrics<Key: Hashable & Sendable, Metric: Sendable>: Sendable {
    private let kept = NIOLockedValueBox<[Key: Metric]>([:])
    private let make: @Sendable (Key) -> Metric

    init(_ make: @escaping @Sendable (Key) -> Metric) { self.make = make }

    subscript(_ key: Key) -> Metric {
        kept.withLockedValue { kept in
            if let metric = kept[key] { return metric }
            let metric = make(key)
            kept[key] = metric
            return metric
        }
    }
}
