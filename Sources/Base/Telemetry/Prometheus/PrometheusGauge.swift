import CoreMetrics
import NIOConcurrencyHelpers

/// A meter, and a recorder that does not aggregate: the last value counts.
final class PrometheusGauge: PrometheusMetric, MeterHandler, RecorderHandler {
    private let value = NIOLockedValueBox(0.0)

    func set(_ newValue: Int64) { set(Double(newValue)) }

    func set(_ newValue: Double) { value.withLockedValue { $0 = newValue } }

    func increment(by amount: Double) {
        guard amount.isFinite else { return }
        value.withLockedValue { $0 += amount }
    }

    func decrement(by amount: Double) { increment(by: -amount) }

    func record(_ newValue: Int64) { set(Double(newValue)) }

    func record(_ newValue: Double) { set(newValue) }

    func append(to text: inout String, name: String, labels: PrometheusLabels) {
        text += "\(name)\(labels.braced()) \(PrometheusNumber.text(value.withLockedValue { $0 }))\n"
    }
}

/// A gauge whose value is read at each scrape.
final class PrometheusComputedGauge: PrometheusMetric {
    private let read: @Sendable () -> Double

    init(read: @escaping @Sendable () -> Double) { self.read = read }

    func append(to text: inout String, name: String, labels: PrometheusLabels) {
        text += "\(name)\(labels.braced()) \(PrometheusNumber.text(read()))\n"
    }
}

/// Integer and fraction are separate, so that a counter of events stays exact however large it grows.
final class PrometheusCounter: PrometheusMetric, CounterHandler, FloatingPointCounterHandler {
    private struct Value {
        var whole: Int64 = 0
        var fraction = 0.0
    }

    private let value = NIOLockedValueBox(Value())

    var whole: Int { Int(clamping: value.withLockedValue { $0.whole }) }

    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        value.withLockedValue { value in
            let (sum, overflow) = value.whole.addingReportingOverflow(amount)
            value.whole = overflow ? .max : sum
        }
    }

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        value.withLockedValue { $0.fraction += amount }
    }

    func reset() { value.withLockedValue { $0 = Value() } }

    func append(to text: inout String, name: String, labels: PrometheusLabels) {
        let value = value.withLockedValue { $0 }
        let number =
            value.fraction == 0
            ? String(value.whole) : PrometheusNumber.text(Double(value.whole) + value.fraction)
        text += "\(name)\(labels.braced()) \(number)\n"
    }
}
