import Metrics
import Testing

@testable import Telemetry

@Suite("What is read back of metrics")
struct ReadingTests {
    @Test("a counter's total, over all label sets or those with one label")
    func totals() {
        let registry = PrometheusRegistry()
        func count(_ status: String, _ publisher: String, by amount: Int) {
            Counter(label: "sales", dimensions: [("status", status), ("publisher", publisher)], factory: registry)
                .increment(by: amount)
        }
        count("granted", "a", by: 2)
        count("granted", "b", by: 3)
        count("not_granted", "a", by: 5)
        #expect(registry.total(of: "sales") == 10)
        #expect(registry.total(of: "sales", where: ("status", "granted")) == 5)
        #expect(registry.total(of: "sales", where: ("publisher", "a")) == 7)
        #expect(registry.total(of: "sales", where: ("publisher", "")) == 0 && registry.total(of: "nothing") == 0)
    }

    @Test("the kernel's word of this process, under the names that are the custom")
    func process() {
        let samples = ProcessMetrics.samples()
        let values = Dictionary(uniqueKeysWithValues: samples.map { ($0.name, $0.value) })
        #expect((values["process_resident_memory_bytes"] ?? 0) > 1_000_000)
        #expect((values["process_cpu_seconds"] ?? 0) > 0)
        #expect((values["process_open_fds"] ?? 0) > 2)
        #expect((values["process_max_fds"] ?? 0) >= (values["process_open_fds"] ?? .infinity))
        #expect((values["process_start_time_seconds"] ?? 0) > 1_700_000_000)
    }
}
