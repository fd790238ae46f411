import Testing

@testable import CleengSimulator

@Suite struct PaymentTests {
    @Test func aPaymentIsAnsweredAtOnceAndGrantedOnlyAfterItsDelay() throws {
        let bench = Bench()
        let answer = bench.pay("ana@example.test")
        #expect(answer.status == 200)
        #expect(answer.json?["success"] == .bool(true))
        #expect(try bench.entitlements("ana@example.test") == [])
        bench.time.advance(milliseconds: 999)
        #expect(try bench.entitlements("ana@example.test") == [])
        bench.time.advance(milliseconds: 1)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US active"])
    }

    @Test func anExpiryIsCountedFromTheGrantHoweverLateItIsRead() throws {
        let bench = Bench()
        let paidAt = bench.time.now
        bench.pay("ana@example.test")
        bench.time.advance(milliseconds: 3_600_000)
        guard case .array(let items) = bench.read("ana@example.test").json?["items"] else {
            Issue.record("no items")
            return
        }
        #expect(items.first?["expiresAt"] == .int(paidAt.unixSeconds + 1 + 30 * 86_400))
    }

    @Test func theTokenIsCheckedBeforeTheBody() {
        let bench = Bench()
        let none = bench.send("POST", "/apple/payment", body: "{}", token: nil)
        #expect(none.status == 401)
        #expect(none.json?["code"] == .string("AUTH0001"))
        let wrong = bench.send("POST", "/apple/payment", body: "{}", token: "other")
        #expect(wrong.status == 401)
        #expect(wrong.json?["code"] == .string("AUTH0002"))
        #expect(bench.send("POST", "/apple/payment", body: "{}").status == 400)
    }

    @Test func everyWrongFieldIsNamedAtOnce() {
        let answer = Bench().send("POST", "/apple/payment", body: #"{"receipt":{"transactionId":12},"appType":"x"}"#)
        #expect(answer.status == 400)
        #expect(answer.json?["code"] == .string("REQ0001"))
        let fields = ["customerEmail", "offerId", "receipt.transactionId", "receipt.receiptData", "appType"]
        #expect(answer.json?["fields"] == .array(fields.map(AnyJSON.string)))
    }

    @Test(arguments: ["", "nonsense", "[]", "12", #"{"customerEmail":"#])
    func aBodyThatIsNoObjectIsRefused(body: String) {
        #expect(Bench().send("POST", "/apple/payment", body: body).status == 400)
    }

    @Test(arguments: [
        ("203.0.113.9", 200), ("2001:db8:0:0:0:0:0:1", 200), ("::1", 400), ("300.1.1.1", 400), ("", 400),
    ])
    func addressesAreTakenAsCleengsSchemaTakesThem(address: String, status: Int) {
        let body = Bench.payment("ana@example.test").dropLast() + #","ipAddress":"\#(address)"}"#
        #expect(Bench().send("POST", "/apple/payment", body: String(body)).status == status)
    }

    @Test func theSameReceiptAndEmailAgainChangesNothing() throws {
        let bench = Bench()
        bench.pay("Ana@Example.test ", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 500)
        bench.pay("ana@example.test", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 500)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US active"])
        bench.pay("ANA@example.test", receipt: "sub-7-b")
        bench.time.advance(milliseconds: 5_000)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US active"])
        #expect(try bench.control("GET", "/_simulator/stats")["grants"] == .int(1))
    }

    @Test func anotherOfferOfTheSameSubscriptionIsAnUpgrade() throws {
        let bench = Bench()
        bench.pay("ana@example.test", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 2_000)
        bench.pay("ana@example.test", offer: "S222222222_US", receipt: "sub-7-b")
        bench.time.advance(milliseconds: 2_000)
        #expect(
            try bench.entitlements("ana@example.test") == ["S123456789_US terminated", "S222222222_US active"])
        #expect(try bench.control("GET", "/_simulator/stats")["upgrades"] == .int(1))
    }

    @Test func unknownAddressesAndMethodsAreToldApart() {
        let bench = Bench()
        #expect(bench.send("POST", "/apple/refund").status == 404)
        let wrongMethod = bench.send("GET", "/apple/payment")
        #expect(wrongMethod.status == 405)
        #expect(wrongMethod.header("Allow") == "POST")
    }
}
