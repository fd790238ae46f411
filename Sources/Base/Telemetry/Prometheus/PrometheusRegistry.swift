import CoreMetrics
import NIOConcurrencyHelpers

/// Keeps the process's metrics and writes them in Prometheus' text format 0.0.4.
///
/// Names: dots, dashes and similar characters become underscores. Counters end in `_total`; timers become histograms of
/// seconds that end in `_seconds`. A recorder becomes a histogram if it aggregates, else a gauge. If two metrics claim
/// one series name with different types, the first keeps it. The later one works but is not exposed, and
/// `prometheus_registry_conflicts` counts it.
///
/// Recording takes one lock, which belongs to the single metric. Making a metric takes the registry's lock and the
/// family's. Keep frequently recorded metrics instead of making them each time.
public final class PrometheusRegistry: Sendable {
    /// The `Content-Type` of ``exposition()``.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"
    /// Upper bounds of timers in seconds, from 1 ms to 60 s.
    public static let defaultTimerBuckets: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60,
    ]
    /// Upper bounds of recorders that aggregate, in the recorder's own unit.
    public static let defaultRecorderBuckets: [Double] = [
        1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000,
    ]

    static let conflictsName = "prometheus_registry_conflicts"
    static let maximumFamilies = 2000

    struct Description {
        var help: String?
        var buckets: [Double]?
    }

    struct State {
        var families: [String: PrometheusFamily] = [:]
        /// Family of each exposed series name.
        var owners: [String: String] = [:]
        /// Descriptions by sanitized label, without suffix, and by full name.
        var descriptions: [String: Description] = [:]
        var collectors: [@Sendable () async -> [MetricSample]] = []
        var conflicts = 0
    }

    let state = NIOLockedValueBox(State())
    let maximumLabelSets: Int
    let collectorTimeout: Duration

    /// - Parameters:
    ///   - maximumLabelSets: limit of label sets in a family; the rest is counted under `overflow="true"`.
    ///   - collectorTimeout: a collector that takes longer is cancelled, and its samples are missing from this answer.
    public init(maximumLabelSets: Int = 1000, collectorTimeout: Duration = .seconds(5)) {
        self.maximumLabelSets = max(1, maximumLabelSets)
        self.collectorTimeout = collectorTimeout
    }

    /// Sets the help text and, for a metric that is made later, the buckets.
    ///
    /// - Parameters:
    ///   - label: as given to swift-metrics (`http.requests`), or the full Prometheus name.
    ///   - help: one line that describes what is measured.
    ///   - buckets: upper bounds; seconds for timers. The registry sorts them and ignores those that are not finite.
    public func describe(_ label: String, help: String, buckets: [Double]? = nil) {
        let bounds = buckets.map { Set($0.filter(\.isFinite)).sorted() }
        state.withLockedValue {
            $0.descriptions[PrometheusName.metric(label)] = Description(help: help, buckets: bounds)
        }
    }

    /// Registers a gauge whose value is read at each ``exposition()``. A later call with the same name and labels
    /// replaces the reader.
    ///
    /// - Parameter read: must be quick and must not record metrics of this registry.
    public func registerGauge(
        _ name: String, help: String, labels: [(String, String)] = [], read: @escaping @Sendable () -> Double
    ) {
        let name = PrometheusName.metric(name)
        state.withLockedValue { $0.descriptions[name, default: Description()].help = help }
        let gauge = PrometheusComputedGauge(read: read)
        family(named: name, base: name, kind: .gauge)?.replace(PrometheusLabels(labels), with: gauge)
    }

    /// Registers a collector of samples, called at each ``exposition()``, concurrently with the others.
    ///
    /// - Parameter collect: returns nothing if it cannot read; must respect cancellation.
    public func registerCollector(_ collect: @escaping @Sendable () async -> [MetricSample]) {
        state.withLockedValue { $0.collectors.append(collect) }
    }

    /// The family with this name, made if new; nil if the name is used with another type.
    func family(
        named name: String, base: String, kind: MetricKind, defaultBuckets: [Double] = []
    ) -> PrometheusFamily? {
        state.withLockedValue { state in
            if let known = state.families[name] {
                if known.kind == kind { return known }
                state.conflicts += 1
                return nil
            }
            let buckets = state.descriptions[name]?.buckets ?? state.descriptions[base]?.buckets ?? defaultBuckets
            let new = PrometheusFamily(name: name, kind: kind, bounds: buckets, limit: maximumLabelSets)
            guard state.families.count < Self.maximumFamilies, name != Self.conflictsName,
                new.seriesNames.allSatisfy({ state.owners[$0] == nil })
            else {
                state.conflicts += 1
                return nil
            }
            for series in new.seriesNames { state.owners[series] = name }
            if let help = state.descriptions[name]?.help ?? state.descriptions[base]?.help {
                state.descriptions[name, default: Description()].help = help
            }
            state.families[name] = new
            return new
        }
    }
}
