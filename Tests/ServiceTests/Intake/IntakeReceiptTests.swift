import Crypto
import Foundation
import Testing

/// Receipts are sent upstream unchanged, whether or not they can be read.
@Suite(.serialized) struct IntakeReceiptTests {
    private static func sha256(_ text: String) -> String {
        SHA256.hash(data: Data(text.utf8)).map { String(format: "%02x", $0) }.joined()
    }

    @Test func everySpellingOfAReceiptIsForwardedByteForByte() async throws {
        try await Setup.run { setup in
            let original = "2000000000000042"
            func receipt(_ padding: Int) -> BuiltReceipt {
                BuiltReceipt(
                    subscriptions: [
                        .init(
                            product: "com.example.m", transaction: original, original: original,
                            expires: "2099-01-01T00:00:00Z")
                    ], padding: padding)
            }
            func wrapped(_ text: String, _ width: Int, _ end: String) -> String {
                var lines: [Substring] = []
                var rest = text[...]
                while !rest.isEmpty {
                    lines.append(rest.prefix(width))
                    rest = rest.dropFirst(width)
                }
                return lines.joined(separator: end) + end
            }
            let urlSafe = receipt(3).base64.replacingOccurrences(of: "+", with: "-").replacingOccurrences(
                of: "/", with: "_"
            )
            .replacingOccurrences(of: "=", with: "")
            let jws = TestPurchase.signedTransaction(
                original: original, transaction: original, product: "com.example.m")
            let readable = [
                receipt(0).base64, receipt(1).base64, receipt(2).base64, urlSafe,
                wrapped(receipt(4).base64, 76, "\r\n"),
                wrapped(receipt(5).base64, 64, "\n"), " \t\(receipt(6).base64)\n\n", receipt(1_500_000).base64, jws,
                "\n\(jws) ",
            ]
            let unreadable = [
                "not a receipt", "héllo ✓ 𝄞 \"quoted\" \\ / \u{2028}", "TUlJ", "....", "a.b.c", "=", "{}", "AAAA====",
                Data((0..<3_000).map { UInt8($0 & 0xff) }).base64EncodedString(),
                String(repeating: "x", count: 1_000_001),
                // A receipt that was truncated in transit.
                String(receipt(300).base64.dropLast(101)),
            ]
            for (isReadable, receipts) in [(true, readable), (false, unreadable)] {
                for (index, text) in receipts.enumerated() {
                    let purchase = RawPurchase(
                        email: "r\(index)\(isReadable)@example.test", transaction: isReadable ? original : "55\(index)",
                        receipt: text)
                    let pursued = try await setup.pursued(purchase)
                    let seen = pursued.forward["body"]["receipt"]
                    #expect(seen["receiptData"]["length"].int == text.utf8.count, "\(text.prefix(30))")
                    #expect(seen["receiptData"]["sha256"].string == Self.sha256(text), "\(text.prefix(30))")
                    #expect(seen["transactionId"].string == (isReadable ? original : "55\(index)"))
                    #expect(pursued.outcome["status"].string == "granted")
                    let detail = try await setup.relay.detail(pursued.id)
                    #expect(detail["receiptReadable"].bool == isReadable, "\(text.prefix(30))")
                    #expect(detail["originalTransactionId"].string == (isReadable ? original : "55\(index)"))
                }
            }
        }
    }

    @Test func escapesInTheBodyChangeNothingOfTheReceipt() async throws {
        try await Setup.run { setup in
            let text = "ab+/cd==\r\nżółć\u{1F600}"
            let escaped = #""\u0061b+\/cd==\r\n\u017c\u00f3\u0142\u0107\ud83d\ude00""#
            let purchase = RawPurchase(email: "esc@example.test").with("receipt.receiptData", escaped)
            let seen = try await setup.pursued(purchase).forward["body"]["receipt"]["receiptData"]
            #expect(seen["length"].int == text.utf8.count)
            #expect(seen["sha256"].string == Self.sha256(text))
        }
    }

    @Test func theTransactionSelectsTheSubscriptionOrElseTheLongestRunning() async throws {
        try await Setup.run(role: "front") { setup in
            let subscriptions: [BuiltReceipt.Subscription] = [
                .init(product: "com.example.b", transaction: "222", original: "222", expires: "2030-01-01T00:00:00Z"),
                .init(product: "com.example.a", transaction: "111", original: "111", expires: "2031-01-01T00:00:00Z"),
                .init(product: "com.example.b", transaction: "223", original: "222", expires: "2041-01-01T00:00:00Z"),
                .init(product: "com.example.c", transaction: "333", original: "333", expires: "2020-01-01T00:00:00Z"),
            ]
            for (index, (transaction, original, product)) in [
                ("111", "111", "com.example.a"), ("222", "222", "com.example.b"), ("223", "222", "com.example.b"),
                ("333", "333", "com.example.c"), ("999", "222", "com.example.b"),
            ].enumerated() {
                for order in [subscriptions, subscriptions.reversed()] {
                    let receipt = BuiltReceipt(subscriptions: order).base64
                    let body = RawPurchase(email: "s\(index)@example.test", transaction: transaction, receipt: receipt)
                    let answer = try await setup.relay.post(body.data)
                    #expect(answer.status == 202)
                    let id = try #require(answer.json["validationId"].string)
                    let detail = try await setup.relay.detail(id)
                    #expect(detail["originalTransactionId"].string == original, "\(transaction)")
                    #expect(detail["productId"].string == product, "\(transaction)")
                    #expect(detail["bundleId"].string == "com.example.app")
                    #expect(detail["receiptReadable"].bool == true)
                }
            }
        }
    }
}
