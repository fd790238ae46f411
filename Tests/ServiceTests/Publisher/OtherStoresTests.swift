import Foundation
import NIOHTTP1
import Testing

/// Purchases at Google Play and the Amazon Appstore: the same road, the same answers.
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

    @Test func aPurchaseAtGoogleIsGrantedAndStandsUnderItsCustomer() async throws {
        try await Setup.run { setup in
            let body = try Self.android(
                "ana@example.test", token: "token-1", extra: ["couponCode": "SUMMER", "applicationUsername": "u-1"])
            let answer = try await Self.post(setup, "/android/payment", body)
            #expect(answer.status == 202 && answer.json["status"].string == "pending", "\(answer.text)")
            let id = try #require(answer.json["validationId"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            // The same again is the same.
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

    @Test func aPurchaseAtAmazonMovesToANewEmail() async throws {
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

    @Test func everyWrongFieldIsNamed() async throws {
        try await Setup.run { setup in
            let wrong = try Self.android(
                "ana", token: String(repeating: "x", count: 1_025), extra: ["ipAddress": "1"],
                receipt: ["productId": "", "packageName": ["x"]])
            let answer = try await Self.post(setup, "/android/payment", wrong)
            #expect(answer.status == 422)
            #expect(
                Set(answer.json["errors"].array?.compactMap { $0["field"].string } ?? [])
                    == [
                        "customerEmail", "ipAddress", "receipt.productId", "receipt.purchaseToken",
                        "receipt.packageName",
                    ])
            let none = try await Self.post(setup, "/amazon/payment", Data(#"{"receipt":[]}"#.utf8))
            #expect(none.status == 422)
            #expect(try await Self.post(setup, "/amazon/payment", Data("[".utf8)).status == 400)
            #expect(try await HTTP.get(setup.relay.url + "/android/payment").status == 405)
        }
    }

    @Test func googleIsAskedWhereItCanBe() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let account = folder.appendingPathComponent("account.json").path
        let made = try await ChildProcess.run(
            "store-simulator", ["google", "create-service-account", "--out", account])
        #expect(made.code == 0)
        let google = try ChildProcess(
            "store-simulator", ["google", "--service-account", account, "--port", "0"], environment: [:])
        guard let line = await google.line(where: { $0.contains("listening on ") }),
            let url = line.split(separator: " ").last
        else { throw HarnessError.notReady("store-simulator", google.output) }
        let settings = [
            "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE": account, "RELAY_GOOGLE_API_URL": "\(url)",
            "RELAY_GOOGLE_TOKEN_URL": "\(url)/token", "RELAY_APPLE_VERIFICATION": "enforce",
        ]
        try await Setup.run(settings: settings) { setup in
            let unknown = try await Self.post(
                setup, "/android/payment", Self.android("ana@example.test", token: "nobodys"))
            #expect(unknown.status == 422 && unknown.json["code"].string == "receipt_not_genuine")
            let told = try await HTTP.call(
                .PUT, "\(url)/control/subscriptions/token-1", headers: ["Content-Type": "application/json"],
                body: Data(#"{"productId":"silver","isTest":true}"#.utf8))
            #expect((200..<300).contains(told.status), "\(told.text)")
            let answer = try await Self.post(
                setup, "/android/payment", Self.android("ana@example.test", token: "token-1"))
            let id = try #require(answer.json["validationId"].string, "\(answer.text)")
            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            #expect(try await setup.relay.detail(id)["verification"]["result"].string == "genuine")
            // The product is the store's word, and so are the dates and that it is a test.
            let purchase = try await Awaiting.fact("the store's word of renewal", within: .seconds(20)) {
                try await Self.purchases(setup, of: "ana@example.test")["google:silver"]
            } holds: {
                $0["renewalIntent"].string == "Renew"
            }
            #expect(purchase["sandbox"].bool == true && purchase["expirationDate"].string != nil)
        }
        await google.end()
    }
}
