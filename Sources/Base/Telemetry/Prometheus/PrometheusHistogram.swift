import CoreMetrics
import NIOConcurrencyHelpers

/// A timer (in seconds) or an aggregating recorder (in its own unit): counts by upper bound, sum and count.
final class PrometheusHistogram: PrometheusMetric, TimerHandler, RecorderHandler {
    private struct Value {
        /// One more than the number of bounds: the last is `+Inf`.
        var counts: [UInt64]
        var sum = 0.0
        /// Timers add whole nanoseconds here, so that the sum does not drift.
        var nanoseconds: Int64 = 0
    }

    private let bounds: [Double]
    private let value: NIOLockedValueBox<Value>

    /// - Parameter bounds: the upper bounds, ascending and finite.
    init(bounds: [Double]) {
        self.bounds = bounds
        self.value = NIOLockedValueBox(Value(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) {
        // A clock that was set back must not make a sum fall.
        let duration = max(0, duration)
        let bucket = bucket(of: Double(duration) / 1e9)
        value.withLockedValue { value in
            value.counts[bucket] += 1
            let (sum, overflow) = value.nanoseconds.addingReportingOverflow(duration)
            value.nanoseconds = overflow ? .max : sum
        }
    }

    func record(_ amount: Int64) { record(Double(amount)) }

    func record(_ amount: Double) {
        guard amount.isFinite else { return }
        let bucket = bucket(of: amount)
        value.withLockedValue { value in
            value.counts[bucket] += 1
            value.sum += amount
        }
    }

    private func bucket(of amount: Double) -> Int { bounds.firstIndex { amount <= $0 } ?? bounds.count }

    func append(to text: inout String, name: String, labels: PrometheusLabels) {
        let value = value.withLockedValue { $0 }
        var total: UInt64 = 0
        for (bound, count) in zip(bounds + [.infinity], value.counts) {
            total += count
            let extra = "le=\"\(PrometheusNumber.text(bound))\""
            text += "\(name)_bucket\(labels.braced(extra: extra)) \(total)\n"
        }
        let sum = value.sum + Double(value.nanoseconds) / 1e9
        text += "\(name)_sum\(labels.braced()) \(PrometheusNumber.text(sum))\n"
        text += "\(name)_count\(labels.braced()) \(total)\n"
    }
}
