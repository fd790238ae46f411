import Foundation
import TestRun
import Testing

/// The validator for Google Play and the Amazon Appstore, with the requests of cordova-plugin-purchase 13.
@Suite struct StoreValidateTests {
    /// The plugin's form for Google Play: the receipt is Google's own text, JSON within JSON.
    private static func google(
        token: String?, username: String? = nil, receipt: String? = nil, product: String = "gold"
    ) throws -> Data {
        let order = "GPA.3312-1234-5678-90123"
        let text =
            #"{"orderId":"\#(order)","packageName":"com.example.app","productId":"\#(product)","#
            + #""purchaseTime":1700000000000,"purchaseState":0,"purchaseToken":"\#(token ?? "")","quantity":1,"#
            + #""autoRenewing":true,"acknowledged":false}"#
        var transaction = [
            "type": "android-playstore", "id": order, "signature": "c2lnbmF0dXJl", "receipt": receipt ?? text,
        ]
        transaction["purchaseToken"] = token
        return try body(product, transaction, username)
    }

    private static func amazon(_ receipt: String, user: String? = "user-1", username: String? = nil) throws -> Data {
        var transaction = ["type": "amazon-appstore", "id": receipt, "receiptId": receipt]
        transaction["userId"] = user
        return try body("gold", transaction, username)
    }

    private static func body(_ product: String, _ transaction: [String: String], _ username: String?) throws -> Data {
        var body: [String: Any] = [
            "id": product, "type": "paid subscription", "transaction": transaction,
            "offers": [
                ["id": "\(product)@monthly", "pricingPhases": [["price": "€4.99", "priceMicros": 4_990_000]]]
            ],
            "products": [["type": "paid subscription", "id": product, "offers": [[String: Any]]()] as [String: Any]],
            "currency": "EUR", "priceMicros": 4_990_000,
            "device": ["plugin": "cordova-plugin-purchase/13.12.1", "platform": "android"],
        ]
        if let username {
            body["additionalData"] = ["applicationUsername": username, "obfuscatedUsername": "0123456789abcdef"]
        }
        return try JSONSerialization.data(withJSONObject: body)
    }

    private static func post(_ setup: Setup, _ body: Data) async throws -> HTTP.Answer {
        let answer = try await HTTP.post(
            setup.relay.url + "/v1/validate?appName=main&apiKey=\(setup.relay.keys.app)",
            headers: ["Content-Type": "application/json;charset=UTF-8", "Origin": "https://localhost"], body: body)
        #expect(answer.status == 200 && answer.header("Access-Control-Allow-Origin") == "*")
        return answer
    }

    private static func purchases(_ setup: Setup, of username: String) async throws -> JSON {
        let key = try await Relay.makeKey("publisher", setup.database)
        return try await HTTP.get(
            setup.relay.url + "/v2/customers/\(username)/purchases?appName=main&apiKey=\(key)"
        ).json["purchases"]
    }

    private static func run(_ body: (OtherStores, Setup) async throws -> Void) async throws {
        try await OtherStores.run { stores in
            try await Setup.run(settings: stores.settings) { try await body(stores, $0) }
        }
    }

    @Test func aPurchaseAtGoogleIsValidatedAndListedForItsUsername() async throws {
        try await Self.run { stores, setup in
            try await stores.google.has("token-1", #"{"productId":"silver","orderId":"GPA.1","isTest":true}"#)
            let answer = try await Self.post(setup, Self.google(token: "token-1", username: "u-77"))
            #expect(answer.json["ok"].bool == true, "\(answer.text)")
            let data = answer.json["data"]
            #expect(data["id"].string == "gold" && data["latest_receipt"].bool == true)
            #expect(data["transaction"]["type"].string == "android-playstore")
            #expect(data["transaction"]["environment"].string == "Sandbox")
            #expect(data["collection"].array?.count == 1)
            let one = data["collection"][0]
            // The store's data counts, not the app's.
            #expect(one["id"].string == "silver" && one["transactionId"].string == "GPA.1")
            #expect(one["platform"].string == "android-playstore" && one["purchaseId"].string == "token-1")
            #expect(one["isExpired"].bool == false && one["renewalIntent"].string == "Renew")
            let now = Date().timeIntervalSince1970 * 1_000
            #expect((one["expiryDate"].number ?? 0) > now && abs((one["purchaseDate"].number ?? 0) - now) < 60_000)
            let purchase = try await Self.purchases(setup, of: "u-77")["google:silver"]
            #expect(purchase["isExpired"].bool == false && purchase["sandbox"].bool == true)
            // An ended purchase is returned as expired.
            try await stores.google.act("expire", "token-1")
            let expired = try await Self.post(setup, Self.google(token: "token-1", username: "u-77"))
            #expect(expired.json["ok"].bool == true)
            #expect(expired.json["data"]["collection"][0]["isExpired"].bool == true)
            #expect(try await Self.purchases(setup, of: "u-77")["google:silver"]["isExpired"].bool == true)
        }
    }

    @Test(.whole) func aPurchaseAtAmazonIsValidated() async throws {
        try await Self.run { stores, setup in
            try await stores.amazon.has("receipt-1", #"{"userId":"user-1","productId":"gold"}"#)
            let answer = try await Self.post(setup, Self.amazon("receipt-1", username: "u-78"))
            #expect(answer.json["ok"].bool == true, "\(answer.text)")
            #expect(answer.json["data"]["transaction"]["type"].string == "amazon-appstore")
            let one = answer.json["data"]["collection"][0]
            #expect(one["id"].string == "gold" && one["platform"].string == "amazon-appstore")
            #expect(one["purchaseId"].string == "receipt-1" && one["isExpired"].bool == false)
            #expect(try await Self.purchases(setup, of: "u-78")["amazon:gold"]["isExpired"].bool == false)
            // A consumed purchase is returned, but not stored.
            try await stores.amazon.has("receipt-2", #"{"productType":"CONSUMABLE","productId":"coins"}"#)
            let used = try await Self.post(setup, Self.amazon("receipt-2", username: "u-79"))
            #expect(used.json["data"]["collection"][0]["id"].string == "coins", "\(used.text)")
            #expect(try await Self.purchases(setup, of: "u-79").object?.isEmpty == true)
        }
    }

    @Test func aMappedProductWithAnEmailIsForwardedOnce() async throws {
        try await Self.run { stores, setup in
            for product in ["google:gold", "amazon:gold"] {
                try await setup.database.add(offer: "S123456789_US", of: product)
            }
            try await stores.google.has("token-1", #"{"productId":"gold"}"#)
            try await stores.amazon.has("receipt-1", #"{"productId":"gold"}"#)
            for (email, path, kept, body) in [
                (
                    "ana@example.test", "/android/payment", "google:token-1",
                    try Self.google(token: "token-1", username: "ana@example.test")
                ),
                (
                    "ben@example.test", "/amazon/payment", "amazon:receipt-1",
                    try Self.amazon("receipt-1", username: "ben@example.test")
                ),
            ] {
                // A running copy has read the new offer when the purchase is forwarded.
                let list = "/ops/validations?customerEmail=\(email)"
                let items = try await Awaiting.fact("it goes on to Cleeng") {
                    _ = try await Self.post(setup, body)
                    return try await setup.relay.ops(list).json["items"]
                } holds: {
                    $0.array?.isEmpty == false
                }
                let id = try #require(items[0]["validationId"].string)
                #expect(try await setup.relay.outcome(id)["status"].string == "granted")
                let detail = try await setup.relay.detail(id)
                #expect(detail["originalTransactionId"].string == kept)
                #expect(detail["verification"]["result"].string == "genuine")
                for _ in 0..<3 { _ = try await Self.post(setup, body) }
                #expect(try await setup.relay.ops(list).json["items"].array?.count == 1)
                let sent: [JSON] = try await setup.simulator.requests(path: path)
                #expect(sent.count == 1)
            }
            // The same purchase through the other route is the same validation.
            let paid = try await HTTP.post(
                setup.relay.url + "/android/payment",
                headers: [
                    "Authorization": "Bearer \(setup.relay.keys.app)", "Content-Type": "application/json",
                ],
                body: Data(
                    #"""
                    {"customerEmail":"ana@example.test","offerId":"S123456789_US","receipt":
                     {"productId":"gold","purchaseToken":"token-1","packageName":"com.example.app"}}
                    """#.utf8))
            #expect(paid.status == 200 && paid.json["status"].string == "granted", "\(paid.text)")
        }
    }

    @Test func aReplacingTokenMovesTheListedPurchase() async throws {
        try await Self.run { stores, setup in
            try await stores.google.has("token-1", #"{"productId":"silver"}"#)
            _ = try await Self.post(setup, Self.google(token: "token-1", username: "u-1", product: "silver"))
            try await stores.google.has("token-2", #"{"productId":"gold","linkedPurchaseToken":"token-1"}"#)
            let answer = try await Self.post(setup, Self.google(token: "token-2", username: "u-1"))
            #expect(answer.json["data"]["collection"].array?.map { $0["purchaseId"].string } == ["token-2"])
            let purchases = try await Self.purchases(setup, of: "u-1")
            #expect(purchases["google:gold"]["isExpired"].bool == false)
            #expect(purchases["google:silver"]["isExpired"].bool != false, "\(purchases)")
        }
    }

    @Test func refusedAndUnreadablePurchasesAreInvalidPayloads() async throws {
        try await Self.run { stores, setup in
            try await stores.google.has("pending", #"{"state":"PENDING"}"#)
            let bodies = [
                try Self.google(token: "nobodys", username: "u"), try Self.google(token: "pending", username: "u"),
                try Self.google(token: nil, receipt: "{}"), try Self.google(token: "t", receipt: "no JSON"),
                try Self.google(token: "t", receipt: "[]"), try Self.google(token: "t", receipt: "{}"),
                try Self.google(token: String(repeating: "x", count: 1_025)), try Self.google(token: "a\u{0}b"),
                try Self.google(token: "t", receipt: String(repeating: "[", count: 20_000)),
                try Self.amazon("nobodys", username: "u"), try Self.amazon("receipt-1", user: nil),
                try Self.amazon(""), Data(#"{"transaction":{"type":"amazon-appstore","receiptId":7}}"#.utf8),
            ]
            for body in bodies {
                let answer = try await Self.post(setup, body)
                #expect(answer.json["ok"].bool == false && answer.json["code"].int == 6_778_001, "\(answer.text)")
                #expect(answer.json["message"].string?.isEmpty == false)
            }
            #expect(try await Self.purchases(setup, of: "u").object?.isEmpty == true)
            // The purchase ended so long ago that the store has forgotten it.
            try await stores.google.has("old")
            try await stores.google.act("forget", "old")
            let old = try await Self.post(setup, Self.google(token: "old"))
            #expect(old.json["ok"].bool == false && old.json["code"].int == 6_778_003, "\(old.text)")
        }
    }

    private static func pay(_ setup: Setup, _ email: String, key: String? = nil) async throws -> HTTP.Answer {
        try await HTTP.post(
            setup.relay.url + "/android/payment",
            headers: ["Authorization": "Bearer \(key ?? setup.relay.keys.app)", "Content-Type": "application/json"],
            body: Data(
                #"""
                {"customerEmail":"\#(email)","offerId":"S123456789_US","receipt":
                 {"productId":"gold","purchaseToken":"token-1","packageName":"com.example.app"}}
                """#.utf8))
    }

    @Test func anUnconfirmedPurchaseTransfersNothing() async throws {
        try await Self.run { stores, setup in
            try await stores.google.has("token-1")
            let ana = try #require(try await Self.pay(setup, "ana@example.test").json["validationId"].string)
            #expect(try await setup.relay.outcome(ana)["status"].string == "granted")
            try await stores.google.trouble(#"{"status":503}"#)
            let eve = try #require(try await Self.pay(setup, "eve@example.test").json["validationId"].string)
            #expect(try await setup.relay.outcome(eve)["status"].string == "granted", "Cleeng decides")
            #expect(try await setup.relay.detail(eve)["verification"]["result"].string == "not_checked")
            #expect(try await setup.relay.poll(ana).json["status"].string == "granted")
            try await stores.google.trouble(nil)
            let bob = try #require(try await Self.pay(setup, "bob@example.test").json["validationId"].string)
            #expect(try await setup.relay.outcome(bob)["status"].string == "granted")
            #expect(try await setup.relay.status(ana)["status"].string == "transferred")
        }
    }

    @Test(.whole) func aPurchaseInAnotherAppThanTheKeysIsNotGenuine() async throws {
        try await Self.run { stores, setup in
            try await stores.google.has("token-1")
            let key = try await Relay.makeKey("app", setup.database, app: "com.example.other")
            let validated = try await HTTP.post(
                setup.relay.url + "/v1/validate?appName=main&apiKey=\(key)",
                headers: ["Content-Type": "application/json"], body: try Self.google(token: "token-1", username: "u-1"))
            #expect(validated.json["ok"].bool == false && validated.json["code"].int == 6_778_001, "\(validated.text)")
            let paid = try #require(
                try await Self.pay(setup, "ana@example.test", key: key).json["validationId"].string)
            let verification = try await setup.relay.detail(paid)["verification"]
            #expect(verification["result"].string == "not_genuine" && verification["code"].string == "bundle")
        }
    }

    @Test(.whole) func anUnavailableStoreAsksForARepeat() async throws {
        try await Self.run { stores, setup in
            try await stores.google.has("token-1")
            try await stores.google.trouble(#"{"status":503,"retryAfter":"7"}"#)
            try await stores.amazon.trouble(#"{"hang":true}"#)
            let away = try await Self.post(setup, Self.google(token: "token-1", username: "u-1"))
            #expect(away.json["ok"].bool == false && away.json["code"].int == 6_778_002, "\(away.text)")
            #expect(away.header("Retry-After") == "7" && away.json["message"].string?.contains("again") == true)
            #expect(try await Self.post(setup, Self.amazon("receipt-1")).json["code"].int == 6_778_002)
            try await stores.google.trouble(nil)
            #expect(try await Self.post(setup, Self.google(token: "token-1")).json["ok"].bool == true)
        }
        try await Setup.run { setup in
            for body in [try Self.google(token: "token-1"), try Self.amazon("receipt-1")] {
                let answer = try await Self.post(setup, body)
                #expect(answer.json["code"].int == 6_778_002, "\(answer.text)")
                #expect(answer.json["message"].string?.contains("its operator sets RELAY_") == true)
            }
        }
    }
}
