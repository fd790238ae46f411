import NIOConcurrencyHelpers

extension PrometheusRegistry {
    /// All metrics in the text format: families by name, samples by label set.
    ///
    /// Collectors run concurrently, each at most for the timeout of ``init(maximumLabelSets:collectorTimeout:)``. If a
    /// collector fails, only its own samples are missing.
    public func exposition() async -> String {
        let samples = await collect()
        let state = state.withLockedValue { $0 }
        var exposition = PrometheusExposition(limit: maximumLabelSets, owners: state.owners)
        for (name, family) in state.families {
            exposition.add(family, help: state.descriptions[name]?.help ?? "No description.")
        }
        for sample in samples {
            exposition.add(sample)
        }
        let conflicts = state.conflicts + exposition.leftOut
        if conflicts > 0 {
            exposition.add(
                MetricSample(
                    name: Self.conflictsName,
                    help: "Metrics that are not put out because their name or label set is taken.",
                    value: Double(conflicts)))
        }
        return exposition.text()
    }

    private func collect() async -> [MetricSample] {
        let collectors = state.withLockedValue { $0.collectors }
        let timeout = collectorTimeout
        return await withTaskGroup(of: (Int, [MetricSample]).self) { group in
            for (index, collector) in collectors.enumerated() {
                group.addTask { (index, await Self.run(collector, timeout: timeout)) }
            }
            var answers: [Int: [MetricSample]] = [:]
            for await (index, samples) in group { answers[index] = samples }
            return collectors.indices.flatMap { answers[$0] ?? [] }
        }
    }

    private static func run(
        _ collector: @escaping @Sendable () async -> [MetricSample], timeout: Duration
    ) async -> [MetricSample] {
        await withTaskGroup(of: [MetricSample]?.self) { group in
            group.addTask { await collector() }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first ?? []
        }
    }
}

extension PrometheusRegistry {
    /// Current total of a counter, for callers that keep its history elsewhere.
    ///
    /// - Parameters:
    ///   - label: as given to swift-metrics.
    ///   - dimension: adds up only the label sets that contain this one; nil: all.
    /// - Returns: 0 if nothing has been counted. Fractions are dropped.
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
