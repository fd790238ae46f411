import Foundation
import Postgres
import Relay
import RelayCore
import Testing

/// `receipt-relay webhooks`, and its results in the ops API.
@Suite struct WebhookCommandTests {
    private static let allowed = ["RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8", "RELAY_WEBHOOK_RETRY_SECONDS": "0.1"]

    private func command(
        _ arguments: [String], _ setup: Setup, _ more: [String: String] = allowed
    ) async throws -> (code: Int32, output: [String]) {
        let environment = ["RELAY_DATABASE_URL": setup.database.url].merging(more, uniquingKeysWith: { $1 })
        let ended = try await ChildProcess.run("receipt-relay", ["webhooks"] + arguments, environment: environment)
        return (ended.code, ended.output)
    }

    @Test func endpointsAreAddedListedTestedAndRemoved() async throws {
        try await Setup.run(settings: Self.allowed) { setup in
            // The simulator answers 200 to this URL, and 404 to the other.
            let good = try await command(["add", "--url", setup.simulator.url + "/_simulator/reset"], setup)
            #expect(good.code == 0 && good.output.count == 1)
            #expect(good.output[0].wholeMatch(of: /[0-9a-f]{24}/) != nil)
            let bad = try await command(
                ["add", "--url", setup.simulator.url + "/nowhere", "--environment", "sandbox"], setup)
            #expect(bad.code == 0)
            for arguments in [
                ["--url", "ftp://a.example"], ["--url", "http://a.example", "--environment", "staging"],
                ["--url", "http://a.example", "--publisher", "nobody"],
            ] {
                #expect(try await command(["add"] + arguments, setup).code != 0, "\(arguments)")
            }
            let again = try await command(["add", "--url", setup.simulator.url + "/nowhere"], setup)
            #expect(again.code == 1 && again.output.contains { $0.contains(bad.output[0]) }, "\(again.output)")
            let listed = try await command(["list", "--json"], setup).output.joined(separator: "\n")
            let list = try JSON(data: Data(listed.utf8)).array ?? []
            #expect(list.map { $0["id"].string } == [good.output[0], bad.output[0]])
            #expect(list.map { $0["environment"].string } == ["all", "sandbox"])
            #expect(list.allSatisfy { $0["state"].string == "active" && $0["url"].string != nil })

            let tested = try await command(["test", good.output[0]], setup)
            #expect(tested.code == 0 && tested.output.contains { $0.contains("was not signed") })
            let secret = ["RELAY_WEBHOOK_SECRETS": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
            let signed = try await command(["test", good.output[0]], setup, Self.allowed.merging(secret) { $1 })
            #expect(signed.code == 0 && !signed.output.contains { $0.contains("was not signed") })
            let failed = try await command(["test"], setup)
            #expect(failed.code == 1 && failed.output.contains { $0.contains(bad.output[0]) && $0.contains("404") })
            let refused = try await command(["test", good.output[0]], setup, [:])
            #expect(refused.code == 1 && refused.output.contains { $0.contains("RELAY_WEBHOOK_ALLOW_NETWORKS") })

            // A disabled endpoint can be tested, and is enabled when it answers.
            _ = try await setup.database.query(
                SQL("UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone'"))
            #expect(try await command(["list"], setup).output.contains { $0.contains("disabled (gone)") })
            #expect(try await command(["test"], setup).code == 1)
            let ops = try await setup.relay.ops("/ops/webhooks/endpoints").json["items"].array ?? []
            #expect(ops.map { $0["state"].string } == ["active", "disabled"])
            // A second one with its URL would be a duplicate as soon as the disabled one is enabled.
            let second = try await command(["add", "--url", setup.simulator.url + "/nowhere"], setup)
            #expect(second.code == 1 && second.output.contains { $0.contains("webhooks enable \(bad.output[0])") })
            _ = try await setup.database.query(
                SQL(
                    "INSERT INTO webhook_endpoints (id, publisher, kind, url, environment) SELECT reverse(id), publisher, kind, url, environment FROM webhook_endpoints WHERE disabled_at IS NOT NULL"
                ))
            let twin = String(bad.output[0].reversed())
            let refusal = try await command(["enable", bad.output[0]], setup)
            #expect(refusal.code == 1 && refusal.output.contains { $0.contains(twin) }, "\(refusal.output)")
            #expect(try await command(["remove", twin], setup).code == 0)
            #expect(try await command(["enable", bad.output[0]], setup).code == 0)
            #expect(try await command(["remove", bad.output[0]], setup).code == 0)
            #expect(try await command(["remove", bad.output[0]], setup).code == 1)
            #expect(try await setup.relay.ops("/ops/webhooks/endpoints").json["items"].array?.count == 1)
        }
    }

    @Test func theRunningCopyDeliversQueuedMessagesAndOpsShowsThem() async throws {
        try await Setup.run(settings: Self.allowed) { setup in
            let bad = try await command(["add", "--url", setup.simulator.url + "/nowhere"], setup)
            let endpoint = try #require(EndpointID(bad.output[0]))
            let delivery = NewDelivery(
                endpoint: endpoint, publisher: "main", lane: "u-77", sequence: 1,
                body: #"{"type":"purchases.updated"}"#, replaces: true,
                at: DatabaseClock().nowOrHostTime)
            try await TestDatabase.withPool(setup.database.url) { pool in
                _ = try await pool.withTransaction { try await $0.pipeline(DeliveryStatements.enqueue([delivery])) }
            }
            let item = try await Awaiting.fact("it is given up") {
                try await setup.relay.ops("/ops/webhooks?state=failed&applicationUsername=u-77").json["items"][0]
            } holds: {
                $0["state"].string == "failed"
            }
            #expect(item["id"].string == delivery.id.description)
            #expect(item["applicationUsername"].string == "u-77" && item["url"].string?.hasSuffix("/nowhere") == true)
            #expect(item["tries"].int == 2 && item["lastStatus"].int == 404)
            #expect(
                try await setup.relay.ops("/ops/webhooks?endpoint=\(endpoint)&limit=1").json["items"].array?.count == 1)
            #expect(try await setup.relay.ops("/ops/webhooks?state=nonsense").status == 422)
            #expect(try await setup.relay.ops("/ops/webhooks?endpoint=x").status == 422)
            #expect(try await setup.relay.ops("/ops/webhooks", key: setup.relay.keys.app).status == 403)
            #expect(try await setup.relay.ops("/ops/summary").json["backlog"]["webhooks"].int == 0)
            let metrics = try await setup.relay.metrics()
            #expect(metrics.contains("relay_webhook_tries_total{result=\"failed\"} 2"))
            #expect(metrics.contains("relay_webhook_deliveries_total{state=\"failed\"} 1"))
        }
    }

    @Test(arguments: [
        ("RELAY_WEBHOOK_URLS", "ftp://a.example"), ("RELAY_WEBHOOK_SECRETS", "secret"),
        ("RELAY_WEBHOOK_RETRY_SECONDS", "5,soon"), ("RELAY_WEBHOOK_TIMEOUT_SECONDS", "0.05"),
        ("RELAY_WEBHOOK_ALLOW_NETWORKS", "10.0.0.0/33"),
    ])
    func aMalformedSettingStopsTheStartByName(setting: String, value: String) async throws {
        let ended = try await ChildProcess.run(
            "receipt-relay", ["serve"],
            environment: [
                "RELAY_DATABASE_URL": "postgresql://localhost/x", "RELAY_CLEENG_PUBLISHER_TOKEN": "t", setting: value,
            ])
        #expect(ended.code == 78)
        #expect(ended.output.contains { $0.contains(setting) && !$0.contains(value) }, "\(ended.output)")
    }
}
