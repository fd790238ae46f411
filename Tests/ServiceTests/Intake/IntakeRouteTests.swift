import Foundation
import NIOHTTP1
import Testing

/// Unknown paths, wrong methods, and headers of every answer.
@Suite(.serialized) struct IntakeRouteTests {
    @Test func unknownAddressesAre404AndOtherMethods405WithAllow() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let bearer = ["Authorization": "Bearer \(relay.keys.app)", "Content-Type": "application/json"]
            let ops = ["Authorization": "Bearer \(relay.keys.operator)", "Content-Type": "application/json"]
            let id = try #require(
                try await relay.purchase(TestPurchase(email: "lou@example.test")).json["validationId"].string)
            for path in [
                "/", "/apple", "/apple/payments", "/apple/payment/x", "/entitlements/\(id)/x", "/ops/validations",
                "/metrics",
                "/healthz", "/%00", "/../etc/passwd", "/" + String(repeating: "a/", count: 200),
            ] {
                expectProblem(try await HTTP.get(relay.url + path, headers: bearer), 404, nil, path)
            }
            for path in ["/apple/payment", "/entitlements/\(id)", "/ops", "/ops/validations/\(id)/delete"] {
                expectProblem(
                    try await HTTP.post(relay.opsURL + path, headers: ops, body: Data("{}".utf8)), 404, nil, path)
            }
            let other = String(id.dropLast()) + (id.hasSuffix("0") ? "1" : "0")
            for unknown in [
                other, "x", "0", String(repeating: "0", count: 38), String(repeating: "f", count: 38), "%00",
                "'%20OR%201=1",
                String(repeating: "9", count: 1_000),
            ] {
                expectProblem(try await relay.poll(unknown), 404, "unknown_validation", unknown)
                expectProblem(
                    try await HTTP.get(relay.opsURL + "/ops/validations/\(unknown)", headers: ops), 404,
                    "unknown_validation")
                expectProblem(
                    try await HTTP.post(
                        relay.opsURL + "/ops/validations/\(unknown)/abandon", headers: ops,
                        body: Data(#"{"reason":"x"}"#.utf8)), 404, "unknown_validation")
            }
            let stranger = try await Relay.makeKey("app", setup.database, app: "com.example.other")
            let elsewhere = try await Relay.makeKey("app", setup.database, publisher: "elsewhere")
            try await relay.waitUntilKnown([stranger, elsewhere])
            for key in [stranger, elsewhere] {
                expectProblem(try await relay.poll(id, key: key), 404, "unknown_validation", "another app's")
            }
            let wrongMethods: [(HTTPMethod, String, String, String)] = [
                (.GET, relay.url, "/apple/payment", "POST"), (.PUT, relay.url, "/apple/payment", "POST"),
                (.DELETE, relay.url, "/entitlements/\(id)", "GET"), (.POST, relay.url, "/entitlements/\(id)", "GET"),
                (.POST, relay.url, "/entitlements", "GET"), (.PATCH, relay.opsURL, "/ops/validations", "GET"),
                (.GET, relay.opsURL, "/ops/validations/\(id)/retry", "POST"), (.POST, relay.opsURL, "/metrics", "GET"),
                (.RAW(value: "PROPFIND"), relay.url, "/apple/payment", "POST"),
                (.OPTIONS, relay.url, "/apple/payment", "POST"),
            ]
            for (method, base, path, allowed) in wrongMethods {
                let answer = try await HTTP.call(method, base + path, headers: base == relay.url ? bearer : ops)
                expectProblem(answer, 405, "method_not_allowed", "\(method) \(path)")
                let allow = answer.header("Allow")?.split(separator: ",").map {
                    $0.trimmingCharacters(in: .whitespaces)
                }
                #expect(allow?.contains(allowed) == true)
                #expect(allow?.contains(method.rawValue) == false)
            }
        }
    }

    @Test func everyAnswerHasARequestIDThatIsSafeInLogs() async throws {
        try await Setup.run(settings: ["RELAY_MAX_BODY_BYTES": "2048"], role: "front") { setup in
            let larger = RawPurchase().with("filler", text: String(repeating: "x", count: 2_048))
            expectProblem(try await setup.relay.post(larger.data), 413, "body_too_large")
            #expect(try await setup.relay.post(RawPurchase().data).status == 202)
            for odd in ["a b", "<script>", "x\"y", String(repeating: "r", count: 5_000), "{}", "é"] {
                let answer = try await HTTP.get(
                    setup.relay.url + "/nowhere", headers: ["X-Request-Id": odd])
                expectProblem(answer, 404)
                #expect(
                    answer.header("X-Request-Id")?.wholeMatch(of: /[A-Za-z0-9._-]{8,64}/) != nil, "\(odd.prefix(20))")
                #expect(answer.header("X-Request-Id") != odd)
            }
            let one = try await HTTP.get(setup.relay.url + "/nowhere").header("X-Request-Id")
            let two = try await HTTP.get(setup.relay.url + "/nowhere").header("X-Request-Id")
            #expect(one != two)
        }
    }
}
