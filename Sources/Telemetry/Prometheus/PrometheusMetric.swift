/// One label set of a family, and its values.
protocol PrometheusMetric: AnyObject, Sendable {
    /// Appends the sample lines of this label set.
    func append(to text: inout String, name: String, labels: PrometheusLabels)
}
