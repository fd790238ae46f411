import Foundation
import Testing

/// Rate limits as apps, publishers and the App Store see them.
@Suite struct RateLimitTests {
    @Test func oneKeysLimitAppliesToNoOther() async throws {
        try await Setup.run(settings: ["RELAY_RATE_LIMIT_PER_KEY": "0.1:3"]) { setup in
            let relay = setup.relay
            let first = try await relay.purchase(TestPurchase(email: "ana@example.test"))
            #expect(first.status == 202 && first.header("RateLimit-Policy") == "\"key\";q=3;w=30")
            #expect(first.header("RateLimit") == "\"key\";r=2;t=10")
            let id = try #require(first.json["validationId"].string)
            #expect(try await relay.poll(id).status == 200)
            #expect(try await relay.poll(id).header("RateLimit")?.hasPrefix("\"key\";r=0") == true)
            let held = try await relay.purchase(TestPurchase(email: "bea@example.test"))
            #expect(held.status == 429 && held.json["code"].string == "rate_limited")
            #expect(held.header("Content-Type") == "application/problem+json")
            #expect((Int(held.header("Retry-After") ?? "") ?? 0) >= 1)
            // A refused purchase leaves no rows.
            let list = try await relay.ops("/ops/validations?customerEmail=bea%40example.test")
            #expect(list.status == 200 && list.json["items"].array == [] && list.header("RateLimit") == nil)
            let publisher = try await Relay.makeKey("publisher", setup.database)
            let purchases = "/v2/customers/ana%40example.test/purchases?appName=main&apiKey=\(publisher)"
            for _ in 0..<3 { #expect(try await HTTP.get(relay.url + purchases).status == 200) }
            let fovea = try await HTTP.get(relay.url + purchases)
            #expect(fovea.status == 429 && fovea.json["ok"].bool == false)
            let bearer = ["Authorization": "Bearer \(publisher)"]
            let billing = try await HTTP.get(relay.url + "/api/v1/Orders", headers: bearer)
            #expect(billing.status == 429 && billing.json["Message"].string != nil)
        }
    }

    @Test func tokenRequestsAreLimited() async throws {
        try await Setup.run(settings: ["RELAY_RATE_LIMIT_PER_KEY": "0.1:2"]) { setup in
            let (one, other) = (
                try await Relay.makeKey("publisher", setup.database),
                try await Relay.makeKey("publisher", setup.database)
            )
            func token(_ secret: String) async throws -> Int {
                try await HTTP.post(
                    setup.relay.url + "/oauth/token", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                    body: Data("grant_type=client_credentials&client_id=main&client_secret=\(secret)".utf8)
                ).status
            }
            for status in [200, 200, 429] { #expect(try await token(one) == status) }
            // Guessed secrets are limited by the client's name, and do not limit a client with the right secret.
            for status in [401, 401, 429] { #expect(try await token("rr_publisher_guess") == status) }
            #expect(try await token(other) == 200)
        }
        try await Setup.run(settings: ["RELAY_RATE_LIMIT_PER_ADDRESS": "0.1:2"]) { setup in
            for status in [400, 400, 429] {
                let answer = try await HTTP.post(
                    setup.relay.url + "/OAuth/Token/", headers: ["Content-Type": "application/x-www-form-urlencoded"],
                    body: Data("grant_type=x".utf8))
                #expect(answer.status == status)
            }
        }
    }

    @Test func addressesAreLimitedExceptForStores() async throws {
        try await Setup.run(
            settings: ["RELAY_RATE_LIMIT_PER_ADDRESS": "0.1:2", "RELAY_TRUSTED_PROXIES": "127.0.0.0/8"]
        ) { setup in
            let relay = setup.relay
            func poll(_ address: String) async throws -> HTTP.Answer {
                try await relay.poll("0", headers: ["X-Forwarded-For": address])
            }
            for status in [404, 404, 429] { #expect(try await poll("192.0.2.1").status == status) }
            #expect(try await poll("192.0.2.2").status == 404)
            // An IPv6 network counts as one address.
            for (place, status) in [404, 404, 429].enumerated() {
                #expect(try await poll("2001:db8::\(place + 1)").status == status)
            }
            #expect(try await poll("2001:db8:0:1::1").status == 404)
            for _ in 0..<4 {
                let told = try await HTTP.post(
                    relay.url + "/apple/notifications", headers: ["Content-Type": "application/json"],
                    body: Data("{}".utf8))
                #expect(told.status == 400)
            }
        }
    }

    @Test func aMalformedLimitIsNamed() async throws {
        for text in ["0", "-1", "x", "1:0", "1:2:3", "1e9", ":5"] {
            let ended = try await ChildProcess.run(
                "receipt-relay", ["serve"],
                environment: [
                    "RELAY_DATABASE_URL": "postgresql://localhost/x", "RELAY_CLEENG_PUBLISHER_TOKEN": "t",
                    "RELAY_RATE_LIMIT_PER_KEY": text,
                ])
            #expect(ended.code == 78 && ended.output.count == 1, "\(text): \(ended.output)")
            #expect(ended.output.first?.contains("RELAY_RATE_LIMIT_PER_KEY") == true)
        }
    }
}
