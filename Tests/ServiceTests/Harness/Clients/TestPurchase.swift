import Foundation

/// One purchase as an app posts it. The receipt is a made-up signed transaction.
struct TestPurchase: Sendable {
    var email: String
    var offer: String
    var transactionID: String
    var receipt: String
    var extra: [String: String] = [:]

    init(
        email: String, offer: String = "S123456789_US", original: String = TestPurchase.newTransactionID(),
        transactionID: String? = nil, product: String = "com.example.month"
    ) {
        self.email = email
        self.offer = offer
        self.transactionID = transactionID ?? original
        self.receipt = Self.signedTransaction(
            original: original, transaction: transactionID ?? original, product: product)
    }

    var body: Data {
        var object: [String: Any] = [
            "customerEmail": email, "offerId": offer,
            "receipt": ["transactionId": transactionID, "receiptData": receipt],
        ]
        for (key, value) in extra { object[key] = value }
        return (try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])) ?? Data()
    }

    static func newTransactionID() -> String {
        "2" + (0..<15).map { _ in String(Int.random(in: 0...9)) }.joined()
    }

    /// A transaction in StoreKit 2's form without a valid signature.
    static func signedTransaction(original: String, transaction: String, product: String) -> String {
        let payload = """
            {"originalTransactionId":"\(original)","transactionId":"\(transaction)","productId":"\(product)",\
            "bundleId":"com.example.app","environment":"Sandbox","purchaseDate":1763600000000,\
            "originalPurchaseDate":1763600000000,"expiresDate":64092211200000,"signedDate":1763600000000,\
            "type":"Auto-Renewable Subscription"}
            """
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "+", with: "-")
                .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
        }
        return [part(#"{"alg":"ES256","x5c":[]}"#), part(payload), part("signature")].joined(separator: ".")
    }
}
