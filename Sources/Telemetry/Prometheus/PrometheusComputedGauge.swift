/// A gauge whose value is read when Prometheus asks.
final class PrometheusComputedGauge: PrometheusMetric {
    private let read: @Sendable () -> Double

    init(read: @escaping @Sendable () -> Double) {
        self.read = read
    }

    func append(to text: inout String, name: String, labels: PrometheusLabels) {
        text += "\(name)\(labels.braced()) \(PrometheusNumber.text(read()))\n"
    }
}
