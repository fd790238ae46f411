import NIOConcurrencyHelpers

/// All label sets of one metric name. Their number is bounded, so hostile label values cost a fixed amount of memory.
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

    /// Names of the series that this family exposes.
    var seriesNames: [String] {
        kind == .histogram ? [name, name + "_bucket", name + "_sum", name + "_count"] : [name]
    }

    /// The metric with these labels, or the overflow metric if the family is full.
    func metric<Metric: PrometheusMetric>(_ labels: PrometheusLabels, make: () -> Metric) -> Metric {
        metrics.withLockedValue { metrics in
            let isFull = metrics[labels] == nil && metrics.count >= limit
            let key = isFull ? PrometheusLabels.overflow : labels
            if let known = metrics[key] as? Metric { return known }
            let new = make()
            // A gauge that is read at each scrape stays registered; the new metric works but is not exposed.
            if metrics[key] == nil { metrics[key] = new }
            return new
        }
    }

    /// Replaces an earlier metric with the same labels.
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

    func snapshot() -> [PrometheusLabels: any PrometheusMetric] { metrics.withLockedValue { $0 } }
}

/// Type of a metric family, as Prometheus names it.
public enum MetricKind: String, Sendable, Hashable {
    case counter
    case gauge
    case histogram
}

/// One value that is read during a scrape, for instance from the database.
public struct MetricSample: Sendable {
    /// Only gauges and counters can be sampled; a histogram must be recorded.
    public enum Kind: Sendable, Hashable {
        case counter
        case gauge
    }

    /// Sanitized like every other name; a counter's name ends in `_total`.
    public var name: String
    public var help: String
    public var kind: Kind
    public var labels: [(String, String)]
    public var value: Double

    public init(
        name: String, help: String, kind: Kind = .gauge, labels: [(String, String)] = [], value: Double
    ) {
        self.name = name
        self.help = help
        self.kind = kind
        self.labels = labels
        self.value = value
    }
}

/// One label set of a family, with its values.
protocol PrometheusMetric: AnyObject, Sendable {
    /// Appends the sample lines of this label set.
    func append(to text: inout String, name: String, labels: PrometheusLabels)
}

/// Metric and label names in the form that Prometheus accepts.
enum PrometheusName {
    /// A metric name: `[a-zA-Z_:][a-zA-Z0-9_:]*`. Other characters become underscores.
    static func metric(_ label: String) -> String { sanitised(label, allowsColon: true) }

    /// A label name: `[a-zA-Z_][a-zA-Z0-9_]*`. Prometheus reserves a leading `__`, so one underscore is removed; `le`
    /// is reserved for histograms.
    static func label(_ name: String) -> String {
        var name = sanitised(name, allowsColon: false)
        while name.hasPrefix("__") { name.removeFirst() }
        return name == "le" ? "le_" : name
    }

    static func withSuffix(_ suffix: String, _ name: String) -> String {
        name.hasSuffix(suffix) ? name : name + suffix
    }

    private static func sanitised(_ text: String, allowsColon: Bool) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 1)
        for byte in text.utf8.prefix(200) {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if bytes.isEmpty { bytes.append(UInt8(ascii: "_")) }
                bytes.append(byte)
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte)
            case UInt8(ascii: ":") where allowsColon: bytes.append(byte)
            default: bytes.append(UInt8(ascii: "_"))
            }
        }
        return bytes.isEmpty ? "_" : String(decoding: bytes, as: UTF8.self)
    }
}

/// Numbers in the notation of the text format.
enum PrometheusNumber {
    static func text(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        // Above 2^53, distinct integers can share one Double.
        if value == value.rounded(), abs(value) < 9_007_199_254_740_992 { return String(Int64(value)) }
        return value.description
    }
}
