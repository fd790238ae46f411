import Foundation
import Testing

/// Tests of genuine and forged receipts with the whole service.
@Suite struct VerificationTests {
    private func forged(_ purchase: TestPurchase) -> TestPurchase {
        var forged = purchase
        // A character within the signature, before the padding.
        let index = forged.receipt.index(forged.receipt.endIndex, offsetBy: -10)
        forged.receipt.replaceSubrange(index...index, with: forged.receipt[index] == "A" ? "B" : "A")
        return forged
    }

    @Test func anEnforcedForgeryIsRefusedAndNeverSent() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings("enforce")) { setup in
            try await setup.relay.process.says("roots beside Apple's are trusted")
            for purchase in [
                try store.purchase(email: "ana@example.test"), try store.receiptPurchase(email: "bea@example.test"),
            ] {
                let refused = try await setup.relay.purchase(forged(purchase))
                #expect(refused.status == 422)
                #expect(refused.json["code"].string == "receipt_not_genuine")
                let id = try #require(try await setup.relay.purchase(purchase).json["validationId"].string)
                #expect(try await setup.relay.outcome(id)["status"].string == "granted")
                #expect(try await setup.relay.detail(id)["verification"]["result"].string == "genuine")
            }
            let another = try await setup.relay.purchase(
                try store.purchase(email: "cyd@example.test", bundle: "com.example.other"))
            #expect(another.status == 422)
            #expect(another.json["detail"].string?.hasPrefix("bundle:") == true)
            let unreadable = TestPurchase(email: "dan@example.test")
            #expect(try await setup.relay.purchase(unreadable).status == 422, "signed by nobody")
            #expect(try await setup.simulator.requests(path: "/apple/payment").count == 2)
            let metrics = try await setup.relay.metrics()
            #expect(metrics.contains(#"intake_verifications_total{result="genuine"} 2"#))
            #expect(metrics.contains(#"intake_verifications_total{result="signature"} 2"#))
        }
    }

    @Test func anObservedForgeryIsForwardedAndShown() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await Setup.run(settings: store.settings("observe")) { setup in
            let purchase = forged(try store.purchase(email: "ana@example.test"))
            let id = try #require(try await setup.relay.purchase(purchase).json["validationId"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            let verification = try await setup.relay.detail(id)["verification"]
            #expect(verification["result"].string == "not_genuine")
            #expect(verification["code"].string == "signature")
            #expect(verification["detail"].string == "the signature is not over this content")
        }
    }

    @Test func anAppsKeyAcceptsOnlyThatAppsReceipts() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        var settings = store.settings("enforce")
        settings["RELAY_APPLE_BUNDLE_IDS"] = nil
        try await Setup.run(settings: settings) { setup in
            let (mine, other) = (
                try await Relay.makeKey("app", setup.database, app: "com.example.app"),
                try await Relay.makeKey("app", setup.database, app: "com.example.other")
            )
            let purchase = try store.purchase(email: "ana@example.test")
            let refused = try await setup.relay.purchase(purchase, key: other)
            #expect(refused.status == 422 && refused.json["detail"].string?.hasPrefix("bundle:") == true)
            for key in [mine, setup.relay.keys.app] {
                #expect(try await setup.relay.purchase(purchase, key: key).status == 202)
            }
            func validate(_ key: String) async throws -> JSON {
                let body: [String: Any] = [
                    "id": "com.example.month", "type": "paid subscription",
                    "transaction": ["type": "apple-sk2", "id": "1", "jwsRepresentation": purchase.receipt],
                ]
                return try await HTTP.post(
                    setup.relay.url + "/v1/validate?appName=main&apiKey=\(key)",
                    headers: ["Content-Type": "application/json"], body: JSONSerialization.data(withJSONObject: body)
                ).json
            }
            let answer = try await validate(other)
            #expect(answer["ok"].bool == false && answer["code"].int == 6_778_001)
            #expect(try await validate(mine)["ok"].bool == true)
        }
    }

    @Test func verificationCanBeSwitchedOff() async throws {
        try await Setup.run(settings: ["RELAY_APPLE_VERIFICATION": "off"]) { setup in
            let purchase = TestPurchase(email: "ana@example.test")
            let id = try #require(try await setup.relay.purchase(purchase).json["validationId"].string)
            #expect(try await setup.relay.detail(id)["verification"]["result"].string == "not_checked")
        }
    }

    @Test(arguments: [
        ("RELAY_APPLE_VERIFICATION", "strict"), ("RELAY_APPLE_BUNDLE_IDS", "com example"),
        ("RELAY_APPLE_APP_ID", "-1"), ("RELAY_APPLE_ENVIRONMENTS", "Production,Test"),
        ("RELAY_APPLE_EXTRA_ROOTS", "/nowhere/root.pem"), ("RELAY_APPLE_EXTRA_ROOTS", "/etc/passwd"),
    ]) func aSettingThatCannotBeUsedIsNamed(name: String, value: String) async throws {
        let ended = try await ChildProcess.run(
            "receipt-relay", ["serve"],
            environment: [
                "RELAY_DATABASE_URL": "postgresql://localhost/nothing", "RELAY_CLEENG_PUBLISHER_TOKEN": "t",
                name: value,
            ])
        #expect(ended.code != 0)
        #expect(ended.output.contains { $0.contains(name) }, "\(ended.output)")
    }
}
