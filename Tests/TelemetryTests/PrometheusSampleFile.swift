import Foundation
import Metrics
import Telemetry
import Testing

/// Writes an exposition to the file that `PROMETHEUS_SAMPLE_FILE` names, for a check by `promtool check metrics`.
@Test(.enabled(if: ProcessInfo.processInfo.environment["PROMETHEUS_SAMPLE_FILE"] != nil))
func anExpositionIsWrittenForPromtool() async throws {
    let path = try #require(ProcessInfo.processInfo.environment["PROMETHEUS_SAMPLE_FILE"])
    let registry = PrometheusRegistry(maximumLabelSets: 2)
    registry.describe("http.requests", help: "Requests \\ by\nroute.")
    registry.describe("http.request.duration", help: "Time to answer.")
    registry.describe("batch.rows", help: "Rows of a batch.")
    for route in ["/a\"b\\c\nd\u{0}", "/é", "/third", "/fourth"] {
        Counter(label: "http.requests", dimensions: [("route", route), ("le", "x")], factory: registry).increment()
    }
    Timer(label: "http.request.duration", factory: registry).recordMilliseconds(3)
    Recorder(label: "batch.rows", factory: registry).record(3)
    registry.registerGauge("pool.connections", help: "Connections.") { .nan }
    registry.registerCollector { [MetricSample(name: "relay.backlog", help: "Waiting.", value: .infinity)] }
    try await registry.exposition().write(toFile: path, atomically: true, encoding: .utf8)
}
