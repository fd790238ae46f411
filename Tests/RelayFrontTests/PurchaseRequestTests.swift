import NIOCore
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("The body of a purchase")
struct PurchaseRequestTests {
    private func body(_ changes: [String: String] = [:], transaction: String = "\"42\"", data: String = "\"YWJj\"")
        -> String
    {
        var fields = [
            "customerEmail": "\" Ana@Example.test \"", "offerId": "\"S1_US\"",
            "receipt": #"{"transactionId":\#(transaction),"receiptData":\#(data)}"#,
        ]
        fields.merge(changes) { $1 }
        return "{" + fields.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    @Test("omitted fields have their defaults")
    func defaults() throws {
        let payment = try Fixtures.payment(
            body(["ipAddress": "null", "couponCode": "null", "appType": "null", "x": "[{}]"]))
        #expect(payment.email.sent == "Ana@Example.test")
        #expect(payment.email.customer == "ana@example.test")
        #expect(payment.applicationUsername == "ana@example.test")
        #expect(payment.proof.appType == "ios")
        #expect(payment.ipAddress == nil)
        #expect(payment.couponCode == nil)
        #expect(payment.warnings.isEmpty)
        #expect(payment.transactionID == "42")
        #expect(payment.receiptData == "YWJj")
    }

    @Test("an unknown field that looks like a known one gets a warning, another one none")
    func unknownFields() throws {
        func warnings(_ fields: [String: String]) throws -> [String] {
            try Fixtures.payment(body(fields)).warnings.map { "\($0.field) \($0.code.rawValue) \($0.detail)" }
        }
        for (name, known) in [
            ("coupon", "couponCode"), ("coupon_code", "couponCode"), ("cuoponCode", "couponCode"),
            ("address", "ipAddress"), ("customerId", "cleengCustomerId"), ("username", "applicationUsername"),
        ] {
            #expect(
                try warnings([name: "\"x\""])
                    == ["\(name) unknown_field is not known and was ignored; did you mean \(known)?"])
        }
        for name in [
            "x", "device", "platform", "version", "code", "offer", "receipts", String(repeating: "coupon", count: 9),
        ] {
            // The offer and the receipt are present, so the names were not mistyped.
            #expect(try warnings([name: "1"]).isEmpty, "\(name)")
        }
        #expect(try warnings(["coupon": "\"a\"", "couponCode": "\"b\""]).isEmpty)
        let many = Dictionary((0..<100).map { ("couponCod\($0 % 10)\($0 / 10)", "1") }, uniquingKeysWith: { $1 })
        #expect(try warnings(many).count == 8)
    }

    @Test("every wrong field is named at once")
    func allAtOnce() {
        #expect(
            Fixtures.wrong("{}") == [
                "customerEmail required", "offerId required", "receipt.transactionId required",
                "receipt.receiptData required",
            ])
        #expect(
            Fixtures.wrong(
                #"{"customerEmail":1,"offerId":[],"receipt":{"transactionId":42,"receiptData":{}},"appType":true,"#
                    + #""ipAddress":1,"applicationUsername":false}"#) == [
                    "customerEmail wrong_type", "offerId wrong_type", "receipt.transactionId wrong_type",
                    "receipt.receiptData wrong_type", "appType wrong_type", "applicationUsername wrong_type",
                ])
        #expect(Fixtures.wrong(body(["receipt": "\"text\""])) == ["receipt wrong_type"])
        #expect(Fixtures.wrong("[]") == [" wrong_type"])
    }

    @Test(
        "of a Google Play purchase Cleeng's number is read if the connector is set",
        arguments: ["0", "\"x\"", "7"])
    func numberAtCleeng(_ number: String) throws {
        let receipt = #"{"productId":"p","purchaseToken":"t","packageName":"a.b"}"#
        let payment = ByteBuffer(string: body(["receipt": receipt, "cleengCustomerId": number]))
        #expect(try PurchaseRequest(payment, of: .google, readsNumber: false).cleengCustomer == nil)
        let read = Result { try PurchaseRequest(payment, of: .google, readsNumber: true).cleengCustomer }
        #expect((try? read.get()) ?? nil == (number == "7" ? 7 : nil))
    }

    @Test(
        "NUL is refused in every text",
        arguments: ["customerEmail", "offerId", "appType", "applicationUsername"])
    func nul(_ field: String) {
        #expect(Fixtures.wrong(body([field: #""a\u0000b""#]))?.contains("\(field) invalid") == true)
    }

    @Test("a transaction id is 1 to 32 digits")
    func transactionID() {
        #expect(Fixtures.wrong(body(transaction: "\"\(String(repeating: "9", count: 32))\"")) == [])
        #expect(
            Fixtures.wrong(body(transaction: "\"\(String(repeating: "9", count: 33))\"")) == [
                "receipt.transactionId too_long"
            ])
        for wrong in ["\"\"", "\"12a\"", "\"-1\"", "\"１２\"", "\" 1\""] {
            #expect(Fixtures.wrong(body(transaction: wrong)) == ["receipt.transactionId invalid"], "\(wrong)")
        }
    }

    @Test("receipt data may be wrapped, and holds no control characters")
    func receiptData() {
        #expect(Fixtures.wrong(body(data: #""YW\r\n\t Jj""#)) == [])
        for wrong in [#""""#, #"" \n""#, #""YW\u0000Jj""#, #""YW\u0007Jj""#, #""YW\u007fJj""#] {
            #expect(Fixtures.wrong(body(data: wrong)) == ["receipt.receiptData invalid"], "\(wrong)")
        }
    }

    @Test("offers are letters, digits, _, - and ., 100 at most")
    func offer() {
        #expect(Fixtures.wrong(body(["offerId": "\"\(String(repeating: "a", count: 100))\""])) == [])
        #expect(Fixtures.wrong(body(["offerId": "\"\(String(repeating: "a", count: 101))\""])) == ["offerId too_long"])
        for wrong in ["\"\"", "\"a b\"", "\"ä\"", "\"a/b\""] {
            #expect(Fixtures.wrong(body(["offerId": wrong])) == ["offerId invalid"], "\(wrong)")
        }
    }

    @Test("an invalid address is dropped with a warning")
    func addresses() throws {
        for good in ["192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"] {
            #expect(try Fixtures.payment(body(["ipAddress": "\"\(good)\""])).ipAddress == good)
        }
        for wrong in ["", "192.0.2", "192.0.2.1:80", "fe80::1%eth0", "[::1]", "localhost", "192.0.2.1/32"] {
            let payment = try Fixtures.payment(body(["ipAddress": "\"\(wrong)\""]))
            #expect(payment.ipAddress == nil && payment.warnings.map(\.field) == ["ipAddress"], "\(wrong)")
        }
        #expect(try Fixtures.payment(body(["ipAddress": "1"])).warnings.map(\.field) == ["ipAddress"])
    }

    @Test("the app's type is known in any case", arguments: [("iOS", "ios"), ("TVOS", "tvos"), ("ios", "ios")])
    func appType(sent: String, read: String) throws {
        #expect(try Fixtures.payment(body(["appType": "\"\(sent)\""])).proof.appType == read)
        for wrong in ["", "android", "ıos"] {
            #expect(Fixtures.wrong(body(["appType": "\"\(wrong)\""])) == ["appType invalid"], "\(wrong)")
        }
    }

    @Test("usernames have 1 to 512 characters, whatever their bytes")
    func usernames() {
        let long = String(repeating: "😀", count: 512)
        #expect(Fixtures.wrong(body(["applicationUsername": "\"\(long)\""])) == [])
        #expect(Fixtures.wrong(body(["applicationUsername": "\"\(long)x\""])) == ["applicationUsername too_long"])
        #expect(Fixtures.wrong(body(["applicationUsername": "\"\""])) == ["applicationUsername invalid"])
    }

    @Test("the customer's number at Cleeng is a whole one above zero, also as text or with a fraction of zero")
    func cleengCustomer() throws {
        for good in ["5", "5.0", "50e-1", "\"5\""] {
            #expect(try Fixtures.payment(body(["cleengCustomerId": good])).cleengCustomer == 5, "\(good)")
        }
        for wrong in ["0", "-5", "5.5", "1e300", "\"5.0\"", "true"] {
            #expect(Fixtures.wrong(body(["cleengCustomerId": wrong]))?.count == 1, "\(wrong)")
        }
    }

    @Test("a coupon is forwarded unchanged")
    func coupon() throws {
        let longest = String(repeating: "x", count: 40)
        #expect(try Fixtures.payment(body(["couponCode": "\" SAVE 10 \""])).couponCode == " SAVE 10 ")
        #expect(try Fixtures.payment(body(["couponCode": "\"\(longest)\""])).couponCode?.text == longest)
    }

    @Test(
        "a wrong coupon does not refuse a purchase",
        arguments: [
            "\"\"", "\"  \"", "\"\(String(repeating: "x", count: 41))\"", "7", "[]", "{\"a\":1}", "true", #""a\u0000""#,
        ])
    func wrongCoupon(_ json: String) throws {
        let payment = try Fixtures.payment(body(["couponCode": json]))
        #expect(payment.couponCode == nil)
        #expect(payment.warnings.map(\.field) == ["couponCode"])
        #expect(payment.warnings.map(\.code) == [.ignored])
    }

    @Test("of a repeated field the last one counts, a receipt as a whole")
    func duplicates() throws {
        #expect(try Fixtures.payment(#"{"offerId":1,"# + body().dropFirst()).offerID == "S1_US")
        #expect(
            Fixtures.wrong(body().dropLast() + #","receipt":{"transactionId":"1"}}"#) == [
                "receipt.receiptData required"
            ])
    }

    @Test(
        "invalid JSON and wrong fields have different errors", arguments: ["", "{", "{\"a\":1}}", "\u{feff}", "<xml/>"])
    func notJSON(_ text: String) {
        #expect(throws: Problem(.notJSON, "")) { try Fixtures.payment(text) }
    }
}
