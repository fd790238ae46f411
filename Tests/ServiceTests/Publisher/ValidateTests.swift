import AppStoreSimulation
import Foundation
import NIOHTTP1
import Postgres
import TestRun
import Testing

/// The validator, with the requests of cordova-plugin-purchase.
@Suite struct ValidateTests {
    private static let product = "com.example.app.monthly"

    /// The plugin's form: the key in the query, many irrelevant fields, and a username that may be a number.
    private static func body(
        type: String, receipt: (name: String, value: String), id: String, username: Any? = nil
    ) throws -> Data {
        var body: [String: Any] = [
            "id": product, "type": "paid subscription", "products": [["type": "paid subscription", "id": product]],
            "priceMicros": 4_990_000, "currency": "EUR", "device": ["plugin": "cordova-plugin-purchase/13.18.0"],
            "transaction": ["type": type, "id": id, receipt.name: receipt.value],
        ]
        if let username { body["additionalData"] = ["applicationUsername": username] }
        return try JSONSerialization.data(withJSONObject: body)
    }

    private static func post(
        _ scene: PublisherScene, _ body: Data, query: String? = nil, headers: [String: String] = [:]
    ) async throws -> HTTP.Answer {
        let all = ["Content-Type": "application/json;charset=UTF-8", "Origin": "ionic://localhost"]
        return try await HTTP.post(
            scene.relay.url + "/v1/validate" + (query ?? "?appName=main&apiKey=\(scene.relay.keys.app)"),
            headers: all.merging(headers, uniquingKeysWith: { $1 }), body: body)
    }

    private static func signed(_ scene: PublisherScene, username: Any? = nil) throws -> Data {
        let jws = try scene.store.transactions.sign(json: scene.life.transaction.json(signedDate: Date()))
        return try body(type: "apple-sk2", receipt: ("jwsRepresentation", jws), id: product, username: username)
    }

    @Test func aSignedTransactionIsValidatedAndListedForItsUsername() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            let answer = try await Self.post(scene, Self.signed(scene, username: "u-77"))
            #expect(answer.status == 200)
            #expect(answer.header("Access-Control-Allow-Origin") == "*")
            #expect(answer.json["ok"].bool == true, "\(answer.text)")
            let data = answer.json["data"]
            #expect(data["id"].string == Self.product && data["latest_receipt"].bool == true)
            #expect(data["transaction"]["type"].string == "apple-sk2")
            let one = data["collection"][0]
            #expect(one["id"].string == Self.product && one["isExpired"].bool == false)
            #expect(one["purchaseId"].string == scene.life.originalTransactionId)
            let now = Date().timeIntervalSince1970 * 1_000
            #expect(abs((one["purchaseDate"].number ?? 0) - now) < 60_000)
            #expect((one["expiryDate"].number ?? 0) > now)
            let purchase = try await scene.purchases("u-77")["apple:\(Self.product)"]
            #expect(purchase["isExpired"].bool == false)
            // Later changes follow the App Store's notifications.
            try await scene.tell(scene.life.refunded(at: Date()))
            #expect(try await scene.purchases("u-77")["apple:\(Self.product)"]["isExpired"].bool == true)
        }
    }

    @Test func aReceiptIsValidatedAndANumberIsAUsername() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            let receipt = Data(try scene.store.receipts.sign(scene.life.receipt(at: Date()))).base64EncodedString()
            let body = try Self.body(
                type: "ios-appstore", receipt: ("appStoreReceipt", receipt), id: scene.life.originalTransactionId,
                username: 4711)
            for query in [nil, ""] as [String?] {
                let headers =
                    query == nil
                    ? [:] : ["Authorization": "Basic " + PublisherScene.base64("main:\(scene.relay.keys.app)")]
                let answer = try await Self.post(scene, body, query: query, headers: headers)
                #expect(answer.json["ok"].bool == true, "\(answer.text)")
                #expect(answer.json["data"]["collection"].array?.count == 1)
            }
            #expect(try await scene.purchases("4711").object?.count == 1)
        }
    }

    @Test func anExpiredPurchaseIsValidAndMarked() async throws {
        try await PublisherScene.run(period: 60) { scene in
            scene.life.bought(at: Date().addingTimeInterval(-7_200))
            let answer = try await Self.post(scene, Self.signed(scene))
            #expect(answer.json["ok"].bool == true)
            #expect(answer.json["data"]["collection"][0]["isExpired"].bool == true)
        }
    }

    @Test func aMappedProductWithAnEmailIsForwardedOnce() async throws {
        try await PublisherScene.run { scene in
            try await scene.setup.database.add(offer: "S123456789_US", of: Self.product)
            scene.life.bought(at: Date())
            // A running copy has read the new offer when the purchase is forwarded.
            let first = try await Awaiting.fact("it goes on to Cleeng") {
                _ = try await Self.post(scene, Self.signed(scene, username: "ana@example.test"))
                return try await scene.relay.ops("/ops/validations?customerEmail=ana@example.test").json["items"]
            } holds: {
                $0.array?.isEmpty == false
            }
            let id = try #require(first[0]["validationId"].string)
            #expect(try await scene.relay.outcome(id)["status"].string == "granted")
            // Signed again, as every device does each time.
            for _ in 0..<3 { _ = try await Self.post(scene, Self.signed(scene, username: "ana@example.test")) }
            let all = try await scene.relay.ops("/ops/validations?customerEmail=ana@example.test").json["items"]
            #expect(all.array?.count == 1)
            // A subscription that Cleeng granted stays with its owner: a username alone does not take it.
            _ = try await Self.post(scene, Self.signed(scene, username: "somebody"))
            #expect(try await scene.purchases("somebody").object?.isEmpty == true)
            #expect(try await scene.purchases("ana@example.test").object?.count == 1)
        }
    }

    @Test func aRepeatWhoseValidationIsGoneIsSentAgain() async throws {
        try await PublisherScene.run { scene in
            try await scene.setup.database.add(offer: "S123456789_US", of: Self.product)
            try await SimulatorControl(scene.setup.simulator).behave("ana@example.test", "reject")
            scene.life.bought(at: Date())
            let body = try Self.signed(scene, username: "ana@example.test")
            func validations() async throws -> [String] {
                let listed = try await scene.relay.ops("/ops/validations?customerEmail=ana@example.test").json["items"]
                return listed.array?.compactMap { $0["validationId"].string } ?? []
            }
            let first = try await Awaiting.fact("it is sent, and once") {
                _ = try await Self.post(scene, body)
                return try await validations()
            } holds: {
                $0.count == 1
            }
            #expect(try await scene.relay.outcome(first[0])["status"].string != "granted")
            _ = try await scene.setup.database.query(SQL("DELETE FROM validations"))
            // Until the relay's memory has dropped the first one.
            try await Awaiting.fact("the purchase has a validation again") {
                _ = try await Self.post(scene, body)
                return try await validations()
            } holds: {
                $0.count == 1 && $0 != first
            }
        }
    }

    @Test func theLastUsernameHasAnUngrantedPurchase() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            _ = try await Self.post(scene, Self.signed(scene, username: "one"))
            _ = try await Self.post(scene, Self.signed(scene, username: "two"))
            #expect(try await scene.purchases("one").object?.isEmpty == true)
            #expect(try await scene.purchases("two").object?.count == 1)
            // A grant takes the subscription from the username.
            try await scene.buy("ana@example.test", username: "three")
            #expect(try await scene.purchases("two").object?.isEmpty == true)
            #expect(try await scene.purchases("three").object?.count == 1)
        }
    }

    @Test func forgeriesAreRefusedInTheValidatorsForm() async throws {
        try await PublisherScene.run(settings: ["RELAY_APPLE_VERIFICATION": "observe"]) { scene in
            scene.life.bought(at: Date())
            let forged = TestPurchase.signedTransaction(original: "1", transaction: "1", product: Self.product)
            let bodies = [
                try Self.body(type: "apple-sk2", receipt: ("jwsRepresentation", forged), id: "x", username: "u"),
                try Self.body(type: "apple-sk2", receipt: ("jwsRepresentation", "no"), id: "x", username: "u"),
                try Self.body(type: "ios-appstore", receipt: ("appStoreReceipt", "TUlJ"), id: "x", username: "u"),
                try Self.body(type: "ios-appstore", receipt: ("other", "TUlJ"), id: "x"),
                try Self.body(type: "stripe-charge", receipt: ("other", "x"), id: "x"),
                Data("{}".utf8), Data("[]".utf8), Data("{".utf8), Data(),
                Data(#"{"transaction":{"type":7},"additionalData":[]}"#.utf8),
            ]
            for body in bodies {
                let answer = try await Self.post(scene, body)
                #expect(answer.status == 200 && answer.json["ok"].bool == false, "\(answer.text)")
                #expect(answer.json["code"].int == 6_778_001 && answer.json["message"].string != nil)
                #expect(answer.header("Access-Control-Allow-Origin") == "*")
            }
            for query in [
                "", "?appName=main&apiKey=wrong", "?appName=other&apiKey=\(scene.relay.keys.app)",
                "?appName=main&apiKey=\(scene.key)",
            ] {
                let answer = try await Self.post(scene, Self.signed(scene), query: query)
                #expect(answer.status == 200 && answer.json["ok"].bool == false)
                #expect([401, 403].contains(answer.json["status"].int))
            }
            #expect(try await scene.purchases("u").object?.isEmpty == true)
        }
    }

    @Test(.whole) func aWebViewMaySendAPreflight() async throws {
        try await PublisherScene.run { scene in
            let answer = try await HTTP.call(
                .OPTIONS, scene.relay.url + "/v1/validate",
                headers: ["Origin": "ionic://localhost", "Access-Control-Request-Method": "POST"])
            #expect(answer.status == 204 && answer.header("Access-Control-Allow-Origin") == "*")
            #expect(answer.header("Access-Control-Allow-Methods")?.contains("POST") == true)
            #expect(answer.header("Access-Control-Allow-Headers")?.lowercased().contains("content-type") == true)
        }
    }

    @Test(.whole) func anUnsupportedMethodIsRefused() async throws {
        try await PublisherScene.run { scene in
            for method in [HTTPMethod.GET, .DELETE] {
                let answer = try await HTTP.call(method, scene.relay.url + "/v1/validate")
                #expect(answer.status == 405 && answer.header("Allow") == "OPTIONS, POST", "\(method): \(answer.text)")
                #expect(answer.json["ok"].bool == false && answer.json["code"].int == 6_778_001)
            }
        }
    }

    @Test(.whole) func aProductThatIsNotItsOffersIsReportedNotRefused() async throws {
        try await PublisherScene.run { scene in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).yaml")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(
                """
                offers:
                  - offerId: S123456789_US
                    products: [com.example.other, "google:other"]
                    coupons: [{code: SUMMER, campaign: Summer}]
                """.utf8
            ).write(to: file)
            let imported = try await ChildProcess.run(
                "receipt-relay", ["offers", "import", file.path],
                environment: ["RELAY_DATABASE_URL": scene.setup.database.url])
            #expect(imported.code == 0 && imported.output == ["1 offers with 2 products"])
            let warnings = try await Awaiting.fact("a purchase is reported") {
                scene.life = try scene.store.subscription()
                scene.life.bought(at: Date())
                var purchase = try scene.store.purchase(scene.life, email: "ana@example.test")
                purchase.extra["couponCode"] = "WINTER"
                let answer = try await scene.relay.purchase(purchase)
                #expect(answer.status == 202)
                return answer.json["warnings"].array ?? []
            } holds: {
                $0.count == 2
            }
            #expect(warnings.map { $0["code"].string } == ["mismatch", "unknown"])
            let offers = try await scene.relay.ops("/ops/offers").json
            #expect(offers["items"][0]["products"].array?.count == 2)
            #expect(offers["unmapped"][0]["product"].string == "apple:\(Self.product)")
            #expect(offers["unmapped"][0]["problem"].string == "product_mismatch")
        }
    }
}
