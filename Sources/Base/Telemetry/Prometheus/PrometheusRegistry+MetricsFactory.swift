public import CoreMetrics
import NIOConcurrencyHelpers

extension PrometheusRegistry: MetricsFactory {
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(label, dimensions)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        counter(label, dimensions)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return gauge(label, dimensions) }
        let name = PrometheusName.metric(label)
        return histogram(name, base: name, dimensions, defaultBuckets: Self.defaultRecorderBuckets)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let base = PrometheusName.metric(label)
        let name = PrometheusName.withSuffix("_seconds", base)
        return histogram(name, base: base, dimensions, defaultBuckets: Self.defaultTimerBuckets)
    }

    public func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }

    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { destroy(handler) }

    public func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }

    public func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }

    public func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }

    private func counter(_ label: String, _ dimensions: [(String, String)]) -> PrometheusCounter {
        let base = PrometheusName.metric(label)
        let family = family(named: PrometheusName.withSuffix("_total", base), base: base, kind: .counter)
        return family?.metric(PrometheusLabels(dimensions)) { PrometheusCounter() } ?? PrometheusCounter()
    }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> PrometheusGauge {
        let name = PrometheusName.metric(label)
        let family = family(named: name, base: name, kind: .gauge)
        return family?.metric(PrometheusLabels(dimensions)) { PrometheusGauge() } ?? PrometheusGauge()
    }

    private func histogram(
        _ name: String, base: String, _ dimensions: [(String, String)], defaultBuckets: [Double]
    ) -> PrometheusHistogram {
        guard let family = family(named: name, base: base, kind: .histogram, defaultBuckets: defaultBuckets) else {
            return PrometheusHistogram(bounds: defaultBuckets)
        }
        return family.metric(PrometheusLabels(dimensions)) { PrometheusHistogram(bounds: family.bounds) }
    }

    private func destroy(_ handler: AnyObject) {
        guard let metric = handler as? any PrometheusMetric else { return }
        for family in state.withLockedValue({ Array($0.families.values) }) {
            family.remove(metric)
        }
    }
}
