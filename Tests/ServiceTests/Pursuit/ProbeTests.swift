import Foundation
import Postgres
import Testing

/// `/metrics`, `/healthz`, `/readyz`: for machines, on the ops port of every role.
@Suite struct ProbeTests {
    @Test func everyRoleOpensTheProbes() async throws {
        try await Setup.run(role: "front") { setup in
            let worker = try await Relay.start(
                database: setup.database, simulator: setup.simulator, role: "worker", keys: setup.relay.keys)
            try await worker.during {
                for relay in [setup.relay, worker] {
                    let health = try await HTTP.get(relay.opsURL + "/healthz")
                    #expect(health.status == 200)
                    let ready = try await HTTP.get(relay.opsURL + "/readyz")
                    #expect(ready.status == 200)
                    #expect(ready.json["status"].string == "ready")
                    #expect(try await HTTP.get(relay.opsURL + "/metrics").status == 200)
                    #expect(try await relay.ops("/ops/summary").status == 200)
                }
                for path in ["/healthz", "/readyz", "/metrics", "/ops/summary"] {
                    #expect(try await HTTP.get(setup.relay.url + path).status == 404, "\(path)")
                }
            }
        }
    }

    @Test func aRefusedStatementMakesTheRelayNotReady() async throws {
        try await Setup.run { setup in
            func run(_ sql: String) async throws { _ = try await setup.database.query(SQL(sql)) }
            func missing() async throws -> [String?] {
                try await HTTP.get(setup.relay.opsURL + "/readyz").json["missing"].array?.map(\.string) ?? []
            }
            for (table, column, what) in [
                ("idempotency_keys", "fingerprint", "accept"), ("pursuits", "synchronization", "claim"),
            ] {
                try await run("ALTER TABLE \(table) RENAME COLUMN \(column) TO gone")
                try await Awaiting.fact("\(what) is missing", of: missing) { $0 == [what] }
                let ready = try await HTTP.get(setup.relay.opsURL + "/readyz")
                #expect(ready.status == 503 && !ready.text.contains("column"))
                let line = await setup.relay.process.line {
                    $0.contains("\"missing\":\"\(what)\"") && $0.contains("does not exist")
                }
                #expect(line != nil && line?.contains("is away") == false)
                try await run("ALTER TABLE \(table) RENAME COLUMN gone TO \(column)")
                try await Awaiting.fact("nothing is missing", of: missing) { $0.isEmpty }
            }
            // The cause of the app's error is in the log.
            try await run("ALTER TABLE validations RENAME COLUMN coupon_code TO gone")
            let answer = try await setup.relay.purchase(TestPurchase(email: "ana@example.test"))
            #expect(answer.status == 503 && !answer.text.contains("coupon_code"))
            let line = await setup.relay.process.line {
                $0.contains("\"status\":503") && $0.contains("coupon_code") && $0.contains("does not exist")
            }
            #expect(line != nil)
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: Promtool.path), "promtool is not installed"))
    func promtoolAcceptsTheMetrics() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            let secret = TestPurchase(email: "ana+flaky-1@example.test")
            _ = try await relay.becomes("granted", relay.pursue(secret))
            _ = try await relay.becomes("rejected", relay.pursue("rea+reject@example.test"))
            _ = try await relay.pursue("nea+never@example.test")
            _ = try await relay.poll("0")
            _ = try await relay.post(Data("{".utf8))
            let answer = try await HTTP.get(relay.opsURL + "/metrics")
            #expect(answer.header("Content-Type")?.hasPrefix("text/plain; version=0.0.4") == true)
            let report = try await Promtool.check(answer.text)
            #expect(report.code == 0, "\(report.output)")
            #expect(try await relay.metric("relay_backlog_watching") == 1)
            for line in answer.text.split(separator: "\n") where !line.hasPrefix("#") {
                #expect(!line.contains("@") && !line.contains(secret.transactionID), "\(line)")
            }
            #expect(answer.text.contains(#"status="granted""#))
            for series in [
                "relay_worker_round_duration_seconds_count{worker=\"pursuits\"}",
                "relay_batch_size_sum{batch=\"intake\"}",
                "event_loop_lag_seconds_count", "process_cpu_seconds_total", "relay_build_info{version=",
            ] { #expect(answer.text.contains(series), "\(series) is missing") }
        }
    }
}

/// Prometheus's own syntax checker.
private enum Promtool {
    static let path = "/usr/bin/promtool"

    static func check(_ text: String) async throws -> (code: Int32, output: String) {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("metrics-\(UUID().uuidString)")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let child = try Spawn(
            "/bin/sh", ["-c", "exec \(path) check metrics < \"$1\"", "sh", file.path], environment: ["PATH": "/usr/bin"]
        )
        let output = OutputCollector()
        let code = await withCheckedContinuation { continuation in
            child.watch {
                output.append($0)
            } onExit: {
                continuation.resume(returning: $0)
            }
        }
        return (code, await output.text())
    }
}
