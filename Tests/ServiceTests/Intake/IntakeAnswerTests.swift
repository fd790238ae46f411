import Foundation
import Testing

/// The answer to a purchase, and the fields that are sent upstream.
@Suite(.serialized) struct IntakeAnswerTests {
    @Test func aNewPurchaseIs202WithTheWholeAnswerAndARepeatOfASettledOneIs200() async throws {
        // Empty settings count as unset, so the contract's defaults apply.
        try await Setup.run(
            grantAfter: 0, settings: ["RELAY_POLL_INTERVAL_SECONDS": "", "RELAY_VALIDATION_TIMEOUT_SECONDS": ""]
        ) { setup in
            let purchase = TestPurchase(email: "Ana.Answer@Example.test")
            let answer = try await setup.relay.purchase(purchase, headers: ["X-Request-Id": "my-own.request_1"])
            #expect(answer.status == 202)
            #expect(answer.header("Content-Type") == "application/json")
            #expect(answer.header("X-Request-Id") == "my-own.request_1")
            #expect(answer.header("Retry-After") == "5")
            let json = answer.json
            #expect(
                json.keys == [
                    "validationId", "status", "accessGranted", "customerEmail", "offerId", "receivedAt", "deadline",
                    "pollAfterSeconds",
                ])
            let id = try #require(json["validationId"].string)
            #expect(answer.header("Location") == "/entitlements/\(id)")
            // 122 random bits take 31 hexadecimal digits.
            #expect(id.utf8.count >= 31)
            #expect(json["status"].string == "pending")
            #expect(json["accessGranted"].bool == false)
            #expect(json["customerEmail"].string == purchase.email)
            #expect(json["offerId"].string == purchase.offer)
            #expect(json["pollAfterSeconds"].int == 5)
            let received = try #require(json["receivedAt"].string.flatMap(Self.date))
            let deadline = try #require(json["deadline"].string.flatMap(Self.date))
            #expect(abs(deadline.timeIntervalSince(received) - 60) < 0.002)

            #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            let again = try await setup.relay.purchase(purchase)
            #expect(again.status == 200)
            #expect(again.header("Location") == "/entitlements/\(id)")
            #expect(again.header("Retry-After") == nil)
            #expect(again.json["validationId"].string == id)
            #expect(again.json["status"].string == "granted")
            #expect(again.json["accessGranted"].bool == true)
            #expect(try await setup.simulator.requests(path: "/apple/payment").count == 1)
        }
    }

    @Test func cleengsFieldsGoUpstreamAndNoOthers() async throws {
        try await Setup.run { setup in
            let plain = try await setup.pursued(
                RawPurchase(email: " Fay@Example.test ").with("unknownField", #"{"a":[1]}"#)
                    .with("publisherToken", text: "an app's own idea").with("receipt.extra", "true")
                    .with("price", "99999999999999999999999999999999999999999e999").with("couponCode", "null")
                    .with("appType", "null").with("ipAddress", "null").with("applicationUsername", "null"),
                headers: ["Idempotency-Key": "fay-1", "X-Customer-Token": "a.b.c"])
            #expect(plain.outcome["status"].string == "granted")
            let body = plain.forward["body"]
            #expect(body.keys == ["customerEmail", "offerId", "receipt", "appType", "ipAddress"])
            #expect(body["receipt"].keys == ["transactionId", "receiptData"])
            #expect(body["customerEmail"].string == "Fay@Example.test")
            #expect(body["appType"].string == "ios")
            #expect(body["ipAddress"].string == "127.0.0.1")
            #expect(plain.forward["publisherToken"].string == "present")
            let headers = Set(plain.forward["headers"].keys.map { $0.lowercased() })
            #expect(
                headers.isDisjoint(with: ["authorization", "x-customer-token", "idempotency-key", "x-forwarded-for"]))
            let detail = try await setup.relay.detail(plain.id)
            #expect(detail["applicationUsername"].string == "fay@example.test")
            #expect(detail["couponCode"].isNull)

            let full = try await setup.pursued(
                RawPurchase(email: "gus@example.test").with("appType", text: "tvos")
                    .with("applicationUsername", text: "Üser 7/ö").with("ipAddress", text: "203.0.113.9"))
            #expect(full.forward["body"]["appType"].string == "tvos")
            #expect(full.forward["body"]["ipAddress"].string == "203.0.113.9")
            #expect(full.forward["body"]["applicationUsername"].isNull)
            let more = try await setup.relay.detail(full.id)
            #expect(more["applicationUsername"].string == "Üser 7/ö")
            #expect(more["appType"].string == "tvos")
        }
    }

    @Test func aCouponIsForwardedUnchangedAndAWrongOneDroppedWithAWarning() async throws {
        try await Setup.run { setup in
            let good = [
                "SUMMER50", "  Sp ace\u{e9} ", String(repeating: "x", count: 40), String(repeating: "é", count: 40),
                "\"quoted\\\"", "' OR 1=1 --", "100%",
            ]
            for (index, coupon) in good.enumerated() {
                let purchase = RawPurchase(email: "good\(index)@example.test").with("couponCode", text: coupon)
                let answer = try await setup.pursued(purchase)
                #expect(answer.outcome["status"].string == "granted")
                #expect(answer.forward["body"]["couponCode"].string == coupon)
                #expect(try await setup.relay.detail(answer.id)["couponCode"].string == coupon)
            }
            let wrong = [
                #""""#, #""  \t ""#, RawPurchase.quoted(String(repeating: "x", count: 41)), #""A\u0000B""#, "5", "true",
                #"["SUMMER50"]"#, #"{"code":"SUMMER50"}"#, "123456789012345678901234567890e400",
                RawPurchase.quoted(String(repeating: "€", count: 100_000)),
            ]
            for (index, coupon) in wrong.enumerated() {
                let purchase = RawPurchase(email: "wrong\(index)@example.test").with("couponCode", coupon)
                let answer = try await setup.relay.post(purchase.data)
                #expect(answer.status == 202, "\(coupon.prefix(40))")
                let warnings = try #require(answer.json["warnings"].array, "\(coupon.prefix(40))")
                #expect(warnings.count == 1)
                #expect(warnings[0].keys == ["field", "code", "detail"])
                #expect(warnings[0]["field"].string == "couponCode")
                #expect(warnings[0]["code"].string == "ignored")
                #expect(warnings[0]["detail"].string?.isEmpty == false)
                let id = try #require(answer.json["validationId"].string)
                #expect(try await setup.relay.outcome(id)["status"].string == "granted")
            }
            let forwards = try await setup.simulator.requests(path: "/apple/payment")
            #expect(forwards.count == good.count + wrong.count)
            #expect(forwards.suffix(wrong.count).allSatisfy { !$0["body"].keys.contains("couponCode") })
        }
    }

    /// A time as answers write it: RFC 3339 in UTC with milliseconds.
    static func date(_ text: String) -> Date? {
        guard text.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil else { return nil }
        return try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true))
    }
}
