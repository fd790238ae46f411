import Foundation
import Metrics
import NIOConcurrencyHelpers
import Telemetry
import Testing

struct PrometheusRegistryTests {
    let registry = PrometheusRegistry(maximumLabelSets: 3)

    @Test func theTextIsWhatPrometheusReads() async {
        registry.describe("http.requests", help: "Requests by route.\nA \\ is escaped.")
        registry.describe("http.request-duration", help: "Time to answer.", buckets: [1, 0.5, .infinity, 0.5])
        registry.describe("batch.size", help: "Rows of a batch.", buckets: [1, 10])
        Counter(label: "http.requests", dimensions: [("route", "/b"), ("method", "GET")], factory: registry).increment()
        Counter(label: "http.requests", dimensions: [("method", "GET"), ("route", "/a")], factory: registry)
            .increment(by: 41)
        let timer = Timer(label: "http.request-duration", dimensions: [("route", "/a")], factory: registry)
        timer.recordMilliseconds(500)
        timer.recordMilliseconds(501)
        timer.recordSeconds(3)
        Recorder(label: "batch.size", factory: registry).record(10)
        Recorder(label: "last.size", aggregate: false, factory: registry).record(2.5)
        let meter = Meter(label: "2nd-gauge", factory: registry)
        meter.set(5)
        meter.increment(by: 2.5)
        meter.decrement()
        FloatingPointCounter(label: "paid_total", factory: registry).increment(by: 0.25)
        registry.registerGauge("pool.size", help: "Connections.", labels: [("state", "idle")]) { 4 }
        registry.registerCollector {
            [
                MetricSample(name: "backlog", help: "Waiting.", labels: [("kind", "b")], value: 2),
                MetricSample(name: "backlog", help: "Waiting.", labels: [("kind", "a")], value: 1e300),
                MetricSample(name: "rows.seen", help: "Rows.", kind: .counter, value: 12),
            ]
        }
        #expect(
            await registry.exposition() == """
                # HELP _2nd_gauge No description.
                # TYPE _2nd_gauge gauge
                _2nd_gauge 6.5
                # HELP backlog Waiting.
                # TYPE backlog gauge
                backlog{kind="a"} 1e+300
                backlog{kind="b"} 2
                # HELP batch_size Rows of a batch.
                # TYPE batch_size histogram
                batch_size_bucket{le="1"} 0
                batch_size_bucket{le="10"} 1
                batch_size_bucket{le="+Inf"} 1
                batch_size_sum 10
                batch_size_count 1
                # HELP http_request_duration_seconds Time to answer.
                # TYPE http_request_duration_seconds histogram
                http_request_duration_seconds_bucket{route="/a",le="0.5"} 1
                http_request_duration_seconds_bucket{route="/a",le="1"} 2
                http_request_duration_seconds_bucket{route="/a",le="+Inf"} 3
                http_request_duration_seconds_sum{route="/a"} 4.001
                http_request_duration_seconds_count{route="/a"} 3
                # HELP http_requests_total Requests by route.\\nA \\\\ is escaped.
                # TYPE http_requests_total counter
                http_requests_total{method="GET",route="/a"} 41
                http_requests_total{method="GET",route="/b"} 1
                # HELP last_size No description.
                # TYPE last_size gauge
                last_size 2.5
                # HELP paid_total No description.
                # TYPE paid_total counter
                paid_total 0.25
                # HELP pool_size Connections.
                # TYPE pool_size gauge
                pool_size{state="idle"} 4
                # HELP rows_seen_total Rows.
                # TYPE rows_seen_total counter
                rows_seen_total 12

                """)
    }

    @Test func labelsAreSanitisedEscapedAndBounded() async {
        let long = String(repeating: "é", count: 500)
        Counter(
            label: "c",
            dimensions: [
                ("a-b", "quote \" slash \\ line\nnul\u{0}"), ("__name__", "x"), ("le", "1"), ("long", long),
                ("none", ""),
                ("9", "digit"),
            ], factory: registry
        ).increment()
        let text = await registry.exposition()
        #expect(
            text.hasSuffix(
                #"c_total{_9="digit",_name__="x",a_b="quote \" slash \\ line\nnul ",le_="1",long=""#
                    + String(repeating: "é", count: 128) + "…\"} 1\n"))
    }

    @Test func tooManyLabelSetsAreCountedTogether() async {
        for number in 0..<10 {
            Counter(label: "c", dimensions: [("id", "\(number)")], factory: registry).increment()
        }
        Counter(label: "c", dimensions: [("id", "0")], factory: registry).increment()
        let text = await registry.exposition()
        #expect(
            text.hasSuffix(
                """
                c_total{id="0"} 2
                c_total{id="1"} 1
                c_total{id="2"} 1
                c_total{overflow="true"} 7

                """))
    }

    @Test func theSameMetricMadeAgainCountsOn() async {
        for _ in 0..<5 {
            Counter(label: "c", dimensions: [("a", "1"), ("b", "")], factory: registry).increment()
        }
        #expect(await registry.exposition().contains("c_total{a=\"1\"} 5\n"))
    }

    @Test func aNameKeepsItsFirstType() async {
        Timer(label: "x", factory: registry).recordSeconds(1)
        Meter(label: "x_seconds_sum", factory: registry).set(9)
        Meter(label: "x_seconds", factory: registry).set(9)
        registry.registerCollector { [MetricSample(name: "x_seconds_count", help: "h", value: 9)] }
        let text = await registry.exposition()
        #expect(!text.contains(" 9\n"))
        #expect(text.contains("prometheus_registry_conflicts 3\n"))
        #expect(text.components(separatedBy: "# TYPE x_seconds").count == 2)
    }

    @Test func timersHaveBucketsFromAMillisecondToAMinute() async {
        Timer(label: "t", factory: registry).recordNanoseconds(1_000_000)
        Timer(label: "t", factory: registry).recordNanoseconds(-5)
        Timer(label: "t", factory: registry).recordNanoseconds(.max)
        let text = await registry.exposition()
        #expect(text.contains("t_seconds_bucket{le=\"0.001\"} 2\n"))
        #expect(text.contains("t_seconds_bucket{le=\"60\"} 2\nt_seconds_bucket{le=\"+Inf\"} 3\n"))
    }

    @Test func aDestroyedMetricIsGoneAndCanComeBack() async {
        let counter = Counter(label: "c", factory: registry)
        counter.increment(by: 7)
        counter.destroy()
        #expect(await registry.exposition() == "")
        Counter(label: "c", factory: registry).increment()
        #expect(await registry.exposition().hasSuffix("c_total 1\n"))
    }

    @Test func invalidNumbersDoNotChangeASum() async {
        let counter = FloatingPointCounter(label: "f", factory: registry)
        for amount in [Double.nan, .infinity, -1, 0.5] { counter.increment(by: amount) }
        let recorder = Recorder(label: "r", factory: registry)
        for amount in [Double.nan, .infinity, 2] { recorder.record(amount) }
        let gauge = Meter(label: "g", factory: registry)
        gauge.set(-Double.infinity)
        let text = await registry.exposition()
        #expect(text.contains("f_total 0.5\n"))
        #expect(text.contains("r_sum 2\nr_count 1\n"))
        #expect(text.contains("g -Inf\n"))
    }

    @Test func nothingIsLostBetweenThreads() async {
        let registry = registry
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 {
                        Counter(label: "c", factory: registry).increment()
                        Timer(label: "t", factory: registry).recordSeconds(1)
                    }
                }
            }
        }
        let text = await registry.exposition()
        #expect(text.contains("c_total 8000\n"))
        #expect(text.contains("t_seconds_sum 8000\nt_seconds_count 8000\n"))
    }

    /// The collector ends only by cancellation, so this test hangs if the registry waits for it.
    @Test func aCollectorThatHangsIsLeftOut() async {
        let registry = PrometheusRegistry(collectorTimeout: .seconds(2))
        registry.registerCollector { [MetricSample(name: "good", help: "h", value: 1)] }
        registry.registerCollector {
            let (stream, _) = AsyncStream.makeStream(of: Never.self)
            for await _ in stream {}
            return [MetricSample(name: "late", help: "h", value: 1)]
        }
        #expect(await registry.exposition() == "# HELP good h\n# TYPE good gauge\ngood 1\n")
    }

    @Test func aComputedGaugeReadsAtEachScrape() async {
        let value = NIOLockedValueBox(1.0)
        registry.registerGauge("g", help: "h") { value.withLockedValue { $0 } }
        #expect(await registry.exposition().hasSuffix("g 1\n"))
        value.withLockedValue { $0 = 2 }
        #expect(await registry.exposition().hasSuffix("g 2\n"))
        registry.registerGauge("g", help: "h") { 3 }
        #expect(await registry.exposition().hasSuffix("g 3\n"))
    }
}
