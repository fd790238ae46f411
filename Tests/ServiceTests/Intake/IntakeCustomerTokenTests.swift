import Crypto
import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
import ReceiverSupport
import Testing

/// With a key set, an app may act only for the email of its customer's token.
@Suite(.serialized) struct IntakeCustomerTokenTests {
    @Test func onlyTheTokensOwnEmailMayBuyAndPoll() async throws {
        let issuer = CustomerTokenIssuer()
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let file = try folder.write("jwks.json", issuer.jwks)
        try await Setup.run(settings: ["RELAY_CUSTOMER_JWKS_FILE": file]) { setup in
            let relay = setup.relay
            let purchase = TestPurchase(email: "Ana@Example.test")
            let good = try issuer.token(email: "ana@example.test")
            var parts = good.split(separator: ".").map(String.init)
            parts[1] = CustomerTokenIssuer.base64URL(Data(#"{"email":"bea@example.test","exp":4102444800}"#.utf8))
            let wrong: [(String, String?)] = [
                ("none", nil), ("empty", ""), ("no token", "token"), ("dots", ".."), ("four parts", good + ".x"),
                ("cut", String(good.dropLast(2))), ("long", String(repeating: "a", count: 15_000)),
                ("expired", try issuer.token(email: "ana@example.test", expiresIn: -60)),
                ("not yet", try issuer.token(email: "ana@example.test", notBefore: 600)),
                ("another's key", try issuer.token(email: "ana@example.test", signedBy: P256.Signing.PrivateKey())),
                ("unsigned", try issuer.unsigned(email: "ana@example.test")),
                ("confused", try issuer.confused(email: "ana@example.test")),
                ("other payload", parts.joined(separator: ".")),
                ("no email", try issuer.token(email: nil)), ("no address", try issuer.token(email: "ana")),
                ("not verified", try issuer.token(email: "ana@example.test", verified: false)),
            ]
            for (what, token) in wrong {
                let headers = token.map { ["X-Customer-Token": $0] } ?? [:]
                for answer in [
                    try await relay.purchase(purchase, headers: headers), try await relay.poll("x", headers: headers),
                ] {
                    expectProblem(answer, 401, nil, what)
                    #expect(answer.header("WWW-Authenticate") != nil, "\(what)")
                    if let token, token.utf8.count > 20 { #expect(!answer.text.contains(token.prefix(20))) }
                }
            }
            let bea = try issuer.token(email: "bea@example.test", verified: true)
            expectProblem(
                try await relay.purchase(purchase, headers: ["X-Customer-Token": bea]), 403, "another_customer")
            // The name under which the purchase is listed does not help either.
            let (object, token) = (try JSONSerialization.jsonObject(with: purchase.body), ["X-Customer-Token": good])
            for (username, status) in [(" BEA@example.test", 403), ("u-77", 202)] {
                var named = try #require(object as? [String: Any])
                named["applicationUsername"] = username
                named["offerId"] = "S598742062_US"
                #expect(
                    try await relay.post(try JSONSerialization.data(withJSONObject: named), headers: token).status
                        == status)
            }
            #expect(try await setup.count("validations") == 1)

            // A valid token with an invalid app key is still 401: the token alone gives no access.
            expectProblem(try await relay.purchase(purchase, key: "nobody", headers: ["X-Customer-Token": good]), 401)

            let accepted = try await relay.purchase(purchase, headers: ["X-Customer-Token": good])
            #expect(accepted.status == 202, "\(accepted.text)")
            let id = try #require(accepted.json["validationId"].string)
            let held = try await relay.poll(id, wait: 60, headers: ["X-Customer-Token": good])
            #expect(held.json["status"].string == "granted")
            let query = relay.url + "/entitlements?customerEmail=ANA%40example.test&offerId=\(purchase.offer)"
            func newest(_ token: String?) async throws -> HTTP.Answer {
                var headers = ["Authorization": "Bearer \(relay.keys.app)"]
                headers["X-Customer-Token"] = token
                return try await HTTP.get(query, headers: headers)
            }
            #expect(try await newest(good).json["status"].string == "granted")
            expectProblem(try await relay.poll(id), 401)
            expectProblem(try await relay.poll(id, headers: ["X-Customer-Token": bea]), 403, "another_customer")
            expectProblem(
                try await relay.poll(id, wait: 30, headers: ["X-Customer-Token": bea]), 403, "another_customer")
            expectProblem(
                try await relay.poll(id, headers: ["X-Customer-Token": bea, "Accept": "text/event-stream"]), 403)
            expectProblem(try await newest(nil), 401)
            expectProblem(try await newest(bea), 403, "another_customer")
            // Another spelling of her own email is accepted.
            let capitals = try issuer.token(email: " ANA@EXAMPLE.TEST ")
            #expect(try await relay.poll(id, headers: ["X-Customer-Token": capitals]).status == 200)
        }
    }

    /// A withdrawn key must not work for ever because the key set cannot be fetched; and its tokens must not be
    /// reported as invalid.
    @Test func keysThatCannotBeFetchedAgainExpire() async throws {
        let issuer = CustomerTokenIssuer()
        let isAway = NIOLockedValueBox(false)
        try await withReceiver { _ in
            isAway.withLockedValue { $0 }
                ? Response(status: .serviceUnavailable)
                : Response(status: .ok, body: .init(byteBuffer: ByteBuffer(string: issuer.jwks)))
        } _: { port, _ in
            let settings = [
                "RELAY_CUSTOMER_JWKS_URL": "http://127.0.0.1:\(port)/jwks.json",
                "RELAY_CUSTOMER_JWKS_MAX_AGE_SECONDS": "2",
            ]
            try await Setup.run(settings: settings) { setup in
                let headers = ["X-Customer-Token": try issuer.token(email: "ana@example.test")]
                let purchase = TestPurchase(email: "ana@example.test")
                #expect(try await setup.relay.purchase(purchase, headers: headers).status == 202)
                isAway.withLockedValue { $0 = true }
                let refused = try await Awaiting.fact("the keys are no longer trusted") {
                    try await setup.relay.purchase(purchase, headers: headers)
                } holds: {
                    !(200...202).contains($0.status)
                }
                expectProblem(refused, 503, "customer_keys_unavailable")
                #expect(refused.header("Retry-After") != nil)
                isAway.withLockedValue { $0 = false }
                try await Awaiting.fact("they are again") {
                    try await setup.relay.purchase(purchase, headers: headers).status
                } holds: {
                    (200...202).contains($0)
                }
            }
        }
    }
}
