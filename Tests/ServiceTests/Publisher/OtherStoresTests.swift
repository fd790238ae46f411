import Foundation
import Postgres
import TestRun
import Testing

/// Purchases at Google Play and the Amazon Appstore: the same path and the same answers.
@Suite struct OtherStoresTests {
    private static func android(
        _ email: String, token: String, extra: [String: Any] = [:], receipt: [String: Any] = [:]
    ) throws -> Data {
        var body: [String: Any] = [
            "customerEmail": email, "offerId": "S123456789_US",
            "receipt": [
                "productId": "gold", "purchaseToken": token, "packageName": "com.example.app",
                "orderId": "GPA.1234-5678-9012-34567", "purchaseState": 0, "purchaseTime": "1700000000000",
                "developerPayload": "", "ignored": [1, 2],
            ].merging(receipt, uniquingKeysWith: { $1 }),
        ]
        for (name, value) in extra { body[name] = value }
        return try JSONSerialization.data(withJSONObject: body)
    }

    private static func post(_ setup: Setup, _ path: String, _ body: Data) async throws -> HTTP.Answer {
        try await HTTP.post(
            setup.relay.url + path,
            headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json"], body: body
        )
    }

    private static func purchases(_ setup: Setup, of username: String) async throws -> JSON {
        let key = try await Relay.makeKey("publisher", setup.database)
        return try await HTTP.get(
            setup.relay.url + "/v2/customers/\(username)/purchases?appName=main&apiKey=\(key)"
        ).json["purchases"]
    }

    @Test func aPurchaseAtGoogleIsGrantedAndListedForItsCustomer() async throws {
        try await Setup.run { setup in
            let body = try Self.android(
                "ana@example.test", token: "token-1", extra: ["couponCode": "SUMMER", "applicationUsername": "u-1"])
            let answer = try await Self.post(setup, "/android/payment", body)
            #expect(answer.status == 202 && answer.json["status"].string == "pending", "\(answer.text)")
            let id = try #require(answer.json["validationId"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            // A repeat of the same purchase returns the same validation.
            let again = try await Self.post(setup, "/android/payment", body)
            #expect(again.status == 200 && again.json["validationId"].string == id)
            let detail = try await setup.relay.detail(id)
            #expect(detail["originalTransactionId"].string == "google:token-1" && detail["appType"].string == "android")
            let sent: [JSON] = try await setup.simulator.requests(path: "/android/payment")
            #expect(sent.count == 1)
            let purchase = try await Self.purchases(setup, of: "u-1")["google:gold"]
            #expect(purchase["platform"].string == "google" && purchase["purchaseId"].string == "google:token-1")
            #expect(purchase["isExpired"].bool == false)
        }
    }

    @Test(.whole) func aPurchaseAtAmazonMovesToANewEmail() async throws {
        try await Setup.run { setup in
            func body(_ email: String) throws -> Data {
                try JSONSerialization.data(withJSONObject: [
                    "customerEmail": email, "offerId": "S123456789_US",
                    "receipt": ["receiptId": "q1YqVbJSSjH28YGPKChw9c0o8Xd", "userId": "user-1"],
                ])
            }
            let first = try await Self.post(setup, "/amazon/payment", body("ana@example.test"))
            let ana = try #require(first.json["validationId"].string, "\(first.text)")
            #expect(try await setup.relay.outcome(ana)["status"].string == "granted")
            let second = try await Self.post(setup, "/amazon/payment", body("ben@example.test"))
            let ben = try #require(second.json["validationId"].string)
            #expect(try await setup.relay.outcome(ben)["status"].string == "granted")
            #expect(try await setup.relay.status(ana)["status"].string == "transferred")
        }
    }

    @Test(.whole) func everyWrongFieldIsNamed() async throws {
        try await Setup.run { setup in
            let wrong = try Self.android(
                "ana", token: String(repeating: "x", count: 1_025), extra: ["ipAddress": "1"],
                receipt: ["productId": "", "packageName": ["x"]])
            let answer = try await Self.post(setup, "/android/payment", wrong)
            #expect(answer.status == 422)
            #expect(
                Set(answer.json["errors"].array?.compactMap { $0["field"].string } ?? [])
                    == [
                        "customerEmail", "receipt.productId", "receipt.purchaseToken",
                        "receipt.packageName",
                    ])
            let none = try await Self.post(setup, "/amazon/payment", Data(#"{"receipt":[]}"#.utf8))
            #expect(none.status == 422)
            #expect(try await Self.post(setup, "/amazon/payment", Data("[".utf8)).status == 400)
            #expect(try await HTTP.get(setup.relay.url + "/android/payment").status == 405)
        }
    }

    @Test func googleIsAskedIfConfigured() async throws {
        try await Self.run(["RELAY_APPLE_VERIFICATION": "enforce"]) { stores, setup in
            let unknown = try await Self.post(
                setup, "/android/payment", Self.android("ana@example.test", token: "nobodys"))
            #expect(unknown.status == 422 && unknown.json["code"].string == "receipt_not_genuine")
            try await stores.google.has("token-1", #"{"productId":"silver","isTest":true}"#)
            let answer = try await Self.post(
                setup, "/android/payment", Self.android("ana@example.test", token: "token-1"))
            let id = try #require(answer.json["validationId"].string, "\(answer.text)")
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            #expect(try await setup.relay.detail(id)["verification"]["result"].string == "genuine")
            // Product, dates and the test flag are the store's statements.
            let purchase = try await Awaiting.fact("the store's word of renewal") {
                try await Self.purchases(setup, of: "ana@example.test")["google:silver"]
            } holds: {
                $0["renewalIntent"].string == "Renew"
            }
            #expect(purchase["sandbox"].bool == true && purchase["expirationDate"].string != nil)
        }
    }

    private static func run(
        _ settings: [String: String] = [:], _ body: (OtherStores, Setup) async throws -> Void
    ) async throws {
        try await OtherStores.run { stores in
            let all = stores.settings.merging(settings, uniquingKeysWith: { $1 })
            try await Setup.run(settings: all) { try await body(stores, $0) }
        }
    }

    /// The purchase was accepted without the store's statement, and so as a paid one.
    @Test func aTestPurchaseAcceptedWithoutGoogleIsMarkedLater() async throws {
        try await Self.run { stores, setup in
            var endpoints: [String: String] = [:]
            for kind in ["sandbox", "production"] {
                let added = try await ChildProcess.run(
                    "receipt-relay",
                    ["webhooks", "add", "--url", "https://hooks.example.test/\(kind)", "--environment", kind],
                    environment: ["RELAY_DATABASE_URL": setup.database.url])
                endpoints[kind] = added.output.first
            }
            func told(_ kind: String) async throws -> [String] {
                try await setup.database.query(
                    SQL(
                        "SELECT body FROM webhook_deliveries WHERE endpoint = $1 ORDER BY sequence DESC LIMIT 1",
                        [.text(endpoints[kind] ?? "")])
                ).map { try $0.get(0, as: String.self) }
            }
            try await stores.google.has("token-1", #"{"isTest":true}"#)
            try await stores.google.trouble(#"{"on":"purchases","status":503,"times":1}"#)
            let answer = try await Self.post(
                setup, "/android/payment", Self.android("ana@example.test", token: "token-1"))
            let id = try #require(answer.json["validationId"].string, "\(answer.text)")
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            #expect(try await setup.relay.detail(id)["verification"]["result"].string == "not_checked")
            try await Awaiting.fact("it is known to be a test", is: true) {
                try await Self.purchases(setup, of: "ana@example.test")["google:gold"]["sandbox"].bool
            }
            try await Awaiting.fact("the sandbox's endpoint hears of it") {
                try await told("sandbox")
            } holds: {
                $0.first?.contains(#""google:gold":{"#) == true
            }
            try await Awaiting.fact("the other one has it no longer") {
                try await told("production")
            } holds: {
                $0.first?.contains(#""purchases":{}"#) == true
            }
        }
    }

    /// The app or the phone disconnects while the store is being asked.
    @Test(arguments: [false, true])
    func aPurchaseOfADisconnectedAppIsAccepted(abruptly: Bool) async throws {
        try await Self.run { stores, setup in
            try await stores.google.has("token-1")
            try await stores.google.trouble(#"{"on":"purchases","delayMilliseconds":1000}"#)
            let body = try Self.android("ana@example.test", token: "token-1")
            let connection = try PlainConnection(to: setup.relay.url)
            try await connection.send(
                "/android/payment", method: "POST",
                headers: ["Authorization": "Bearer \(setup.relay.keys.app)", "Content-Length": "\(body.count)"],
                body: body)
            try await Awaiting.fact("the store is asked", is: 1) {
                try await setup.relay.metric("relay_store_questions")
            }
            connection.leave(abruptly: abruptly)
            let items = try await Awaiting.fact("the purchase is there") {
                try await setup.relay.ops("/ops/validations?customerEmail=ana@example.test").json["items"]
            } holds: {
                $0.array?.count == 1
            }
            let id = try #require(items[0]["validationId"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            #expect(try await setup.relay.detail(id)["verification"]["result"].string == "genuine")
        }
    }

    /// The process gets the signal to stop while the store is being asked.
    @Test func aStoppingCopyAcceptsPurchasesInProgress() async throws {
        try await Self.run { stores, setup in
            try await stores.google.has("token-1")
            try await stores.google.trouble(#"{"on":"purchases","delayMilliseconds":1500}"#)
            let body = try Self.android("ana@example.test", token: "token-1")
            async let answer = Self.post(setup, "/android/payment", body)
            try await Awaiting.fact("the store is asked", is: 1) {
                try await setup.relay.metric("relay_store_questions")
            }
            setup.relay.process.signal(SIGTERM)
            #expect(try await answer.status == 202)
            #expect(await setup.relay.process.exitCode() == 0)
            let rows = try await setup.database.query(
                SQL("SELECT verification FROM validations WHERE customer = 'ana@example.test'"))
            #expect(try rows.map { try $0.get(0, as: Int16.self) } == [1])
        }
    }
}
