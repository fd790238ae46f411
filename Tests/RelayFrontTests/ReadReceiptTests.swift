import Foundation
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Receipts as received")
struct ReadReceiptTests {
    @Test("only what encodes to the very same text is stored decoded")
    func canonical() throws {
        for count in 1..<40 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 251) }
            let text = Data(bytes).base64EncodedString()
            let receipt = ReadReceipt(text, transactionID: "1")
            #expect(!receipt.stored.isText && receipt.stored.bytes.value == bytes)
            let unpadded = text.filter { $0 != "=" }
            let urlSafe = text.replacing("+", with: "-").replacing("/", with: "_")
            let others = [
                text + "\n", " " + text, String(text.prefix(2)) + "\r\n" + text.dropFirst(2), unpadded, urlSafe,
            ]
            for other in others where other != text {
                let receipt = ReadReceipt(other, transactionID: "1")
                #expect(receipt.stored.isText && receipt.stored.bytes.value == Array(other.utf8), "\(other)")
                // It is still the same receipt.
                #expect(receipt.identity == bytes)
            }
        }
    }

    @Test(
        "an unreadable receipt is stored with the app's transaction id",
        arguments: ["abcd", "not base64!", "a.b.c", "ü", "===="])
    func unreadable(_ text: String) {
        let receipt = ReadReceipt(text, transactionID: "42")
        #expect(!receipt.isReadable)
        #expect(receipt.subscriptionKey == "42")
        #expect(receipt.environment == "unknown")
        #expect(receipt.stored.isText ? receipt.stored.bytes.value == Array(text.utf8) : text == "abcd")
        #expect(!receipt.identity.isEmpty)
    }

    @Test("a signed transaction counts for its original transaction, in its environment")
    func signedTransaction() {
        func part(_ json: String) -> String {
            Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").filter {
                $0 != "="
            }
        }
        let text = [
            part(#"{"alg":"ES256","x5c":["AA=="]}"#),
            part(
                #"{"transactionId":"43","originalTransactionId":"41","bundleId":"com.example","productId":"monthly","#
                    + #""environment":"Sandbox","type":"Auto-Renewable Subscription","signedDate":1700000000000}"#),
            part("signature"),
        ].joined(separator: ".")
        let receipt = ReadReceipt(text, transactionID: "42")
        #expect(receipt.isReadable)
        #expect(receipt.subscriptionKey == "41")
        #expect(receipt.environment == "Sandbox")
        #expect(receipt.productID == "monthly" && receipt.bundleID == "com.example")
        #expect(receipt.stored.isText && receipt.stored.bytes.value == Array(text.utf8))
        #expect(ReadReceipt(text + "\n", transactionID: "42").identity == receipt.identity)
    }
}
