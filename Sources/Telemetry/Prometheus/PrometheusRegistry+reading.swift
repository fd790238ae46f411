import NIOConcurrencyHelpers

extension PrometheusRegistry {
    /// What a counter has come to so far, for those who keep its history elsewhere.
    ///
    /// - Parameters:
    ///   - label: as given to swift-metrics.
    ///   - dimension: only label sets that have this one are added up; nil: all.
    /// - Returns: 0 where nothing has been counted. Fractions are left out.
    public func total(of label: String, where dimension: (String, String)? = nil) -> Int {
        let name = PrometheusName.withSuffix("_total", PrometheusName.metric(label))
        guard let family = state.withLockedValue({ $0.families[name] }) else { return 0 }
        let wanted = dimension.map { PrometheusLabels([$0]).text }
        return family.snapshot().reduce(into: 0) { sum, metric in
            guard let counter = metric.value as? PrometheusCounter else { return }
            guard wanted.map({ metric.key.contains($0) }) ?? true else { return }
            sum += counter.whole
        }
    }
}
