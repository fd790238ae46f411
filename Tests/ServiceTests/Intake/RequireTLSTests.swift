import Foundation
import Testing

@testable import ReceiptRelay

/// Upstreams without TLS cause a warning or prevent the start.
@Suite struct RequireTLSTests {
    private static let upstreams = [
        "RELAY_CLEENG_PAYMENT_URL", "RELAY_CLEENG_API_URL", "RELAY_CLEENG_STOREKIT2_URL",
        "RELAY_CLEENG_NOTIFICATION_URL", "RELAY_APPLE_API_URL", "RELAY_APPLE_API_SANDBOX_URL", "RELAY_GOOGLE_API_URL",
        "RELAY_GOOGLE_TOKEN_URL", "RELAY_AMAZON_RVS_URL", "RELAY_CUSTOMER_JWKS_URL",
    ]

    private func settings(_ more: [String: String]) throws -> ServeSettings {
        let needed = [
            "RELAY_DATABASE_URL": "postgresql://localhost/relay", "RELAY_CLEENG_PUBLISHER_TOKEN": "token",
            "RELAY_CLEENG_PUBLISHER_ID": "1",
        ]
        return try ServeSettings(SettingReader(environment: needed.merging(more) { $1 }, file: nil))
    }

    private func fault(_ more: [String: String]) -> String {
        do {
            _ = try settings(more)
            return "taken"
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: upstreams) func httpCausesAWarningAndIsRefusedIfTLSIsRequired(name: String) throws {
        let plain = try settings([name: "http://upstream.example"]).warnings.filter { $0.contains("no TLS") }
        #expect(plain.count == 1 && plain.first?.contains(name) == true, "\(plain)")
        for url in ["https://upstream.example", "http://127.0.0.1:9", "http://[::1]:9", "http://localhost:9"] {
            #expect(!(try settings([name: url]).warnings.contains { $0.contains("no TLS") }), "\(url)")
        }
        for url in ["http://upstream.example", "http://127.0.0.1:9", "http://localhost:9", "HTTP://upstream.example"] {
            let said = fault([name: url, "RELAY_REQUIRE_TLS": "true"])
            #expect(said.contains(name) && said.contains("RELAY_REQUIRE_TLS") && !said.contains("upstream"), "\(said)")
        }
        #expect(fault([name: "https://127.0.0.1:9", "RELAY_REQUIRE_TLS": "true"]) == "taken")
    }

    /// A trace collector receives no secret, except its own key if one is set.
    @Test func aCollectorWithAKeyMustUseTLS() throws {
        let collector = ["RELAY_TRACING_OTLP_ENDPOINT": "http://127.0.0.1:4318", "RELAY_REQUIRE_TLS": "true"]
        #expect(fault(collector) == "taken")
        let said = fault(collector.merging(["RELAY_TRACING_OTLP_HEADERS": "authorization=Bearer hunter2"]) { $1 })
        #expect(said.contains("RELAY_TRACING_OTLP_ENDPOINT") && !said.contains("hunter2"), "\(said)")
    }

    @Test func theDefaultsCauseNoWarning() throws {
        #expect(!(try settings([:]).warnings.contains { $0.contains("no TLS") }))
        #expect(fault(["RELAY_REQUIRE_TLS": "true"]) == "taken")
        #expect(fault(["RELAY_REQUIRE_TLS": "yes"]).contains("RELAY_REQUIRE_TLS"))
    }

    @Test func aPublishersOwnAddressesCountToo() throws {
        let scratch = try ScratchFolder()
        defer { scratch.remove() }
        let file = try scratch.write(
            "p.yaml", "nordic:\n  cleeng:\n    publisher_token: t\n    payment_url: http://pay.example\n")
        let warnings = try settings(["RELAY_PUBLISHERS_FILE": file]).warnings.filter { $0.contains("no TLS") }
        #expect(warnings.count == 1 && warnings.first?.contains("publisher nordic: ") == true, "\(warnings)")
        let said = fault(["RELAY_PUBLISHERS_FILE": file, "RELAY_REQUIRE_TLS": "true"])
        #expect(said.contains("nordic") && said.contains("RELAY_CLEENG_PAYMENT_URL"), "\(said)")
    }

    @Test func endpointsOfWebhooksMustBeHTTPS() async throws {
        #expect(
            fault(["RELAY_WEBHOOK_URLS": "https://a.test, http://b.test", "RELAY_REQUIRE_TLS": "true"]).contains(
                "RELAY_WEBHOOK_URLS"))
        let strict = [
            "RELAY_REQUIRE_TLS": "true", "RELAY_CLEENG_PAYMENT_URL": "", "RELAY_CLEENG_API_URL": "",
            "RELAY_CLEENG_STOREKIT2_URL": "", "RELAY_CLEENG_NOTIFICATION_URL": "off",
        ]
        try await Setup.run(settings: strict) { setup in
            let key = try await Relay.makeKey("publisher", setup.database)
            func add(_ url: String) async throws -> HTTP.Answer {
                try await HTTP.post(
                    setup.relay.url + "/api/v1/webhooks",
                    headers: ["Authorization": "Bearer \(key)", "Content-Type": "application/json"],
                    body: Data(#"{"Url":"\#(url)"}"#.utf8))
            }
            let refused = try await add("http://hooks.example.test/x")
            #expect(refused.status == 422 && refused.text.contains("https"), "\(refused.text)")
            #expect(try await add("https://hooks.example.test/x").status == 201)
            let environment = ["RELAY_DATABASE_URL": setup.database.url, "RELAY_REQUIRE_TLS": "true"]
            let command = try await ChildProcess.run(
                "receipt-relay", ["webhooks", "add", "--url", "http://hooks.example.test/x"], environment: environment)
            #expect(command.code == 1 && command.output.first?.contains("https") == true, "\(command.output)")
            // An existing http endpoint is not called.
            let added = try await ChildProcess.run(
                "receipt-relay", ["webhooks", "add", "--url", "http://hooks.example.test/x"],
                environment: ["RELAY_DATABASE_URL": setup.database.url])
            let id = try #require(added.output.first)
            let tried = try await ChildProcess.run("receipt-relay", ["webhooks", "test", id], environment: environment)
            #expect(tried.code == 1 && tried.output.contains { $0.contains("RELAY_REQUIRE_TLS") }, "\(tried.output)")
        }
    }
}
