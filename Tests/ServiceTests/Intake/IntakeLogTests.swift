import Foundation
import Testing

/// The log names each purchase's events, and contains no secret even at its most verbose level.
@Suite(.serialized) struct IntakeLogTests {
    @Test(arguments: ["debug", "trace"])
    func nothingSecretIsEverWritten(_ level: String) async throws {
        let issuer = CustomerTokenIssuer()
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let jwks = try folder.write("jwks.json", issuer.jwks)
        let database = try await TestDatabase.make()
        let simulator = try await Simulator.start(grantAfter: 0.2)
        let keys = try await Relay.makeKeys(database)
        let password = "hush-hush-database-password"
        let settings = [
            "RELAY_LOG_LEVEL": level, "RELAY_CUSTOMER_JWKS_FILE": jwks, "RELAY_VALIDATION_TIMEOUT_SECONDS": "1",
            "RELAY_DATABASE_URL": database.url.replacingOccurrences(of: "relay@", with: "relay:\(password)@"),
        ]
        let relay = try await Relay.start(database: database, simulator: simulator, keys: keys, settings: settings)
        var secrets = [keys.app, keys.viewer, keys.operator, Simulator.token, password]

        // Every outcome of a purchase, and every kind of refusal.
        var ids: [String: String] = [:]
        for tag in [
            "granted", "reject-422", "never", "unauthorized-1", "flaky-1", "read-500-1", "read-garbage-1", "reset-1",
        ] {
            let email = "recognisable.customer+\(tag)@secret-domain.example"
            var purchase = TestPurchase(email: email)
            purchase.extra = ["couponCode": "HUSHCOUPON", "applicationUsername": "recognisable-username"]
            let token = try issuer.token(email: email)
            let headers = ["X-Customer-Token": token, "X-Request-Id": "req-\(tag)", "Idempotency-Key": "idem-\(tag)"]
            let accepted = try await relay.purchase(purchase, headers: headers)
            #expect(accepted.status == 202)
            let id = try #require(accepted.json["validationId"].string)
            ids["req-\(tag)"] = id
            var status: String? = "pending"
            while status == "pending" {
                status = try await relay.poll(id, wait: 20, headers: ["X-Customer-Token": token]).json["status"].string
            }
            _ = try await HTTP.get(
                relay.url
                    + "/entitlements?customerEmail=\(email.replacingOccurrences(of: "+", with: "%2B"))&offerId=\(purchase.offer)",
                headers: ["Authorization": "Bearer \(keys.app)", "X-Customer-Token": token])
            _ = try await relay.ops(
                "/ops/validations?customerEmail=\(email.replacingOccurrences(of: "+", with: "%2B"))")
            _ = try await relay.detail(id)
            _ = try await relay.post(purchase.body.dropLast(3), headers: headers)
            _ = try await relay.post(
                purchase.body, key: "rr_app_0123456789abcdef_\(String(repeating: "5ec", count: 21))e", headers: headers)
            _ = try await relay.post(purchase.body, headers: ["X-Customer-Token": token + "x"])
            secrets += [email, token, purchase.receipt, String(repeating: "5ec", count: 21)]
        }
        relay.process.signal(SIGTERM)
        #expect(await relay.process.exitCode() == 0)
        _ = await relay.process.line { _ in false }
        let output = relay.process.output
        let whole = output.joined(separator: "\n")
        for secret in secrets {
            // A part of a secret must not appear either.
            let parts = secret.contains("@") ? [secret] : [secret.prefix(24), secret.suffix(24)].map(String.init)
            for part in parts {
                let line = output.first { $0.localizedCaseInsensitiveContains(part) }
                #expect(line == nil, "\(part) in \(line ?? "")")
            }
        }
        for part in ["recognisable.customer", "recognisable.customer%2B", "recognisable-username"] {
            let line = output.first { $0.contains(part) }
            #expect(line == nil, "\(part) in \(line ?? "")")
        }
        #expect(!whole.contains(keys.app.suffix(20)))

        // Each line is one JSON object; a purchase's request line has both ids.
        for line in output {
            let json = try? JSON(data: Data(line.utf8))
            #expect(json?["message"].string != nil && json?["level"].string != nil, "\(line)")
        }
        let refused = output.compactMap { try? JSON(data: Data($0.utf8)) }.filter {
            $0["message"].string == "request" && (400..<499).contains($0["status"].int ?? 0)
        }
        #expect(!refused.isEmpty && refused.allSatisfy { $0["code"].string != nil }, "\(refused)")
        for (request, id) in ids {
            let lines = output.filter { $0.contains("\"request_id\":\"\(request)\"") }
                .compactMap { try? JSON(data: Data($0.utf8)) }
            #expect(
                lines.contains { $0["validation_id"].string == id && $0["status"].int == 202 }, "\(request) \(lines)")
        }
        await simulator.end()
        try await database.drop()
    }
}
