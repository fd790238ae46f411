import NIOConcurrencyHelpers

/// All label sets of one name. Bounded: an attacker who finds a way into a label's value costs a fixed amount of memory.
final class PrometheusFamily: Sendable {
    let name: String
    let kind: MetricKind
    /// The bounds of this family's histograms.
    let bounds: [Double]

    private let limit: Int
    private let metrics = NIOLockedValueBox<[PrometheusLabels: any PrometheusMetric]>([:])

    init(name: String, kind: MetricKind, bounds: [Double], limit: Int) {
        self.name = name
        self.kind = kind
        self.bounds = bounds
        self.limit = limit
    }

    /// The names of the series that this family puts out.
    var seriesNames: [String] {
        kind == .histogram ? [name, name + "_bucket", name + "_sum", name + "_count"] : [name]
    }

    /// The metric of these labels, the overflow's where they would be one set too many.
    func metric<Metric: PrometheusMetric>(_ labels: PrometheusLabels, make: () -> Metric) -> Metric {
        metrics.withLockedValue { metrics in
            let isFull = metrics[labels] == nil && metrics.count >= limit
            let key = isFull ? PrometheusLabels.overflow : labels
            if let known = metrics[key] as? Metric { return known }
            let new = make()
            // A gauge that is read at each scrape keeps its place; the new one works but is not put out.
            if metrics[key] == nil { metrics[key] = new }
            return new
        }
    }

    /// Puts a metric in the place of an earlier one with the same labels.
    func replace(_ labels: PrometheusLabels, with metric: any PrometheusMetric) {
        metrics.withLockedValue { metrics in
            guard metrics[labels] != nil || metrics.count < limit else { return }
            metrics[labels] = metric
        }
    }

    func remove(_ metric: any PrometheusMetric) {
        metrics.withLockedValue { metrics in
            if let labels = metrics.first(where: { $0.value === metric })?.key {
                metrics[labels] = nil
            }
        }
    }

    func snapshot() -> [PrometheusLabels: any PrometheusMetric] {
        metrics.withLockedValue { $0 }
    }
}
