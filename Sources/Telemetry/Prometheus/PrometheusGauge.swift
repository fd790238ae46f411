import CoreMetrics
import NIOConcurrencyHelpers

/// A meter, and a recorder that does not aggregate: the last value counts.
final class PrometheusGauge: PrometheusMetric, MeterHandler, RecorderHandler {
    private let value = NIOLockedValueBox(0.0)

    func set(_ newValue: Int64) {
        set(Double(newValue))
    }

    func set(_ newValue: Double) {
        value.withLockedValue { $0 = newValue }
    }

    func increment(by amount: Double) {
        guard amount.isFinite else { return }
        value.withLockedValue { $0 += amount }
    }

    func decrement(by amount: Double) {
        increment(by: -amount)
    }

    func record(_ newValue: Int64) {
        set(Double(newValue))
    }

    func record(_ newValue: Double) {
        set(newValue)
    }

    func append(to text: inout String, name: String, labels: PrometheusLabels) {
        text += "\(name)\(labels.braced()) \(PrometheusNumber.text(value.withLockedValue { $0 }))\n"
    }
}
