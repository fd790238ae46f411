/// One value that was read while Prometheus asked, for instance from the database.
public struct MetricSample: Sendable {
    /// Gauges and counters can be sampled; a histogram has to be recorded.
    public enum Kind: Sendable, Hashable {
        case counter
        case gauge
    }

    /// Sanitised like every other name; a counter's ends in `_total`.
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
