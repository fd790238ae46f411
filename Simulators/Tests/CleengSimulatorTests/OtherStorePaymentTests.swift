import Testing

@testable import CleengSimulator

/// Purchases of Google Play, the Amazon Appstore and Roku Pay.
@Suite struct OtherStorePaymentTests {
    private func body(_ gateway: PaymentGateway, _ email: String, key: String, offer: String = "S123456789_US")
        -> String
    {
        let receipt =
            gateway == .amazon
            ? #"{"receiptId":"\#(key)","userId":"u1"}"#
            : #"{"productId":"gold","purchaseToken":"\#(key)","packageName":"com.example.app","purchaseTime":1}"#
        if gateway == .roku {
            let order = #"{"purchaseId":"\#(key)","code":"gold","amount":"$9.99","qty":1,"total":9.99}"#
            return #"{"customerEmail":"\#(email)","offerId":"\#(offer)","order":\#(order)}"#
        }
        return #"{"customerEmail":"\#(email)","offerId":"\#(offer)","receipt":\#(receipt)}"#
    }

    @discardableResult
    private func pay(
        _ bench: Bench, _ gateway: PaymentGateway, _ email: String, key: String = "key-1",
        offer: String = "S123456789_US"
    ) -> Outcome {
        bench.send("POST", "/\(gateway.rawValue)/payment", body: body(gateway, email, key: key, offer: offer))
    }

    @Test(arguments: [PaymentGateway.android, .amazon, .roku])
    func aPaymentIsAnsweredAtOnceAndGrantedOnlyAfterItsDelay(gateway: PaymentGateway) throws {
        let bench = Bench()
        let answer = pay(bench, gateway, "ana@example.test")
        #expect(answer.status == 200)
        #expect(answer.json?["success"] == .bool(true))
        bench.time.advance(milliseconds: 999)
        #expect(try bench.entitlements("ana@example.test") == [])
        bench.time.advance(milliseconds: 1)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US active"])
    }

    @Test(arguments: [PaymentGateway.android, .amazon, .roku])
    func theSamePurchaseFromAnotherCustomerMovesIt(gateway: PaymentGateway) throws {
        let bench = Bench()
        pay(bench, gateway, "ana@example.test")
        bench.time.advance(milliseconds: 2_000)
        pay(bench, gateway, "ana@example.test")
        pay(bench, gateway, "ben@example.test")
        bench.time.advance(milliseconds: 2_000)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US terminated"])
        #expect(try bench.entitlements("ben@example.test") == ["S123456789_US active"])
        #expect(try bench.control("GET", "/_simulator/stats")["transfers"] == .int(1))
        pay(bench, gateway, "ana@example.test", key: "key-2")
        bench.time.advance(milliseconds: 2_000)
        #expect(try bench.entitlements("ben@example.test") == ["S123456789_US active"])
    }

    @Test(arguments: [PaymentGateway.android, .amazon, .roku])
    func theSameBehavioursBefallThem(gateway: PaymentGateway) throws {
        let bench = Bench()
        #expect(pay(bench, gateway, "ana+status-503@example.test").status == 503)
        #expect(pay(bench, gateway, "ana+status-422@example.test").status == 422)
        pay(bench, gateway, "ana+never@example.test")
        bench.time.advance(milliseconds: 3_600_000)
        #expect(try bench.entitlements("ana+never@example.test") == [])
        let path = "/\(gateway.rawValue)/payment"
        #expect(bench.send("POST", path, body: "{}", token: nil).json?["code"] == .string("AUTH0001"))
        #expect(bench.send("GET", path).status == 405)
    }

    @Test(arguments: [
        (PaymentGateway.android, ["receipt.productId", "receipt.packageName", "receipt.purchaseToken"]),
        (.amazon, ["receipt.receiptId", "receipt.userId"]), (.roku, ["order.code", "order.purchaseId"]),
    ])
    func everyWrongFieldIsNamedAtOnce(gateway: PaymentGateway, fields: [String]) {
        let answer = Bench().send(
            "POST", "/\(gateway.rawValue)/payment", body: #"{"receipt":{"transactionId":"1"},"appType":"ios"}"#)
        #expect(answer.status == 400)
        let named = ["customerEmail", "offerId"] + fields + ["appType"]
        #expect(answer.json?["fields"] == .array(named.map(AnyJSON.string)))
    }

    @Test(arguments: [(PaymentGateway.android, "purchaseToken"), (.amazon, "receiptId")])
    func noPurchaseCanBeAskedForByWhatIsKept(gateway: PaymentGateway, field: String) throws {
        let bench = Bench()
        pay(bench, gateway, "ana@example.test", key: "a-key-that-is-long-enough")
        let requests = try bench.control("GET", "/_simulator/requests")
        guard case .array(let items) = requests["items"], let shown = items.first?["body"]?["receipt"]?[field] else {
            Issue.record("nothing is kept")
            return
        }
        #expect(shown["length"] == .int(25))
        #expect(!"\(items)".contains("a-key-that-is-long-enough"))
    }
}
