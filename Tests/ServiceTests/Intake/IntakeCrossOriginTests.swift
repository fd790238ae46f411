import Foundation
import NIOHTTP1
import Testing

/// Web pages that call the app's routes: `RELAY_CORS_ORIGINS`.
@Suite struct IntakeCrossOriginTests {
    private static let page = "https://shop.example.com"

    @Test func aPageOfAnAllowedOriginMayBuyAndPoll() async throws {
        try await Setup.run(settings: ["RELAY_CORS_ORIGINS": "\(Self.page), ionic://localhost"]) { setup in
            let relay = setup.relay
            for path in [
                "/apple/payment", "/android/payment", "/amazon/payment", "/roku/payment", "/entitlements/1",
                "/entitlements?customerEmail=a@example.test",
            ] {
                let method = path.hasPrefix("/entitlements") ? "GET" : "POST"
                let answer = try await HTTP.call(
                    .OPTIONS, relay.url + path,
                    headers: ["Origin": Self.page, "Access-Control-Request-Method": method])
                #expect(answer.status == 204 && answer.header("Access-Control-Allow-Origin") == Self.page, "\(path)")
                #expect(answer.header("Access-Control-Allow-Methods")?.contains(method) == true)
                #expect(answer.header("Access-Control-Max-Age") == "86400" && answer.header("Vary") == "Origin")
                let allowed = answer.header("Access-Control-Allow-Headers")?.lowercased() ?? ""
                for name in [
                    "authorization", "content-type", "idempotency-key", "if-none-match", "prefer", "x-customer-token",
                    "cache-control", "traceparent", "tracestate",
                ] { #expect(allowed.contains(name), "\(name)") }
            }
            let accepted = try await relay.purchase(
                TestPurchase(email: "ana@example.test"), headers: ["Origin": Self.page])
            Self.expectReadable(accepted)
            let id = try #require(accepted.json["validationId"].string)
            _ = try await relay.becomes("granted", id)
            // By the router, and from the cache.
            for _ in 0..<3 { Self.expectReadable(try await relay.poll(id, headers: ["Origin": Self.page])) }
            // Errors too, since a page must be able to read them.
            for answer in [
                try await relay.poll("0", headers: ["Origin": Self.page]),
                try await relay.poll(id, key: "nobody", headers: ["Origin": Self.page]),
            ] {
                #expect([401, 404].contains(answer.status))
                Self.expectReadable(answer)
            }
            for _ in 0..<3 {
                let other = try await relay.poll(id, headers: ["Origin": "https://other.example.com"])
                #expect(other.status == 200 && other.header("Access-Control-Allow-Origin") == nil)
                #expect(other.header("Vary") == "Origin")
            }
        }
    }

    private static func expectReadable(_ answer: HTTP.Answer) {
        #expect(answer.header("Access-Control-Allow-Origin") == page && answer.header("Vary") == "Origin")
        #expect(answer.header("Access-Control-Expose-Headers") == "Location, Retry-After, ETag")
    }

    @Test func withoutTheSettingNoPageMay() async throws {
        try await Setup.run(role: "front") { setup in
            let preflight = try await HTTP.call(
                .OPTIONS, setup.relay.url + "/apple/payment", headers: ["Origin": Self.page])
            #expect(preflight.status == 405)
            let answer = try await setup.relay.poll("0", headers: ["Origin": Self.page])
            #expect(answer.header("Access-Control-Allow-Origin") == nil && answer.header("Vary") == nil)
        }
    }
}
