/// What Prometheus calls the type of a metric family.
public enum MetricKind: String, Sendable, Hashable {
    case counter
    case gauge
    case histogram
}
