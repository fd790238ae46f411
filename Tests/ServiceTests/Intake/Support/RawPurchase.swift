import Foundation

/// A purchase's body from raw pieces of JSON, so that any value can be at any place. It is valid at first.
struct RawPurchase: Sendable {
    /// A field's name and its value as JSON text, in the order in which they are written.
    var fields: [(name: String, json: String)]
    var receipt: [(name: String, json: String)]

    init(
        email: String = "raw@example.test", offer: String = "S123456789_US",
        transaction: String = TestPurchase.newTransactionID(), receipt: String? = nil
    ) {
        let data = receipt ?? TestPurchase(email: email, original: transaction).receipt
        fields = [("customerEmail", Self.quoted(email)), ("offerId", Self.quoted(offer))]
        self.receipt = [("transactionId", Self.quoted(transaction)), ("receiptData", Self.quoted(data))]
    }

    /// The same body with a field set, or removed if `json` is nil. `receipt.…` is a field of the receipt.
    func with(_ name: String, _ json: String?) -> RawPurchase {
        var copy = self
        if name.hasPrefix("receipt.") {
            let name = String(name.dropFirst("receipt.".count))
            copy.receipt.removeAll { $0.name == name }
            if let json { copy.receipt.append((name, json)) }
        } else {
            copy.fields.removeAll { $0.name == name }
            if let json { copy.fields.append((name, json)) }
        }
        return copy
    }

    func with(_ name: String, text: String) -> RawPurchase { with(name, Self.quoted(text)) }

    var text: String {
        func object(_ fields: [(name: String, json: String)]) -> String {
            "{" + fields.map { "\(Self.quoted($0.name)):\($0.json)" }.joined(separator: ",") + "}"
        }
        let hasOwnReceipt = fields.contains { $0.name == "receipt" }
        return object(hasOwnReceipt ? fields : fields + [("receipt", object(receipt))])
    }

    var data: Data { Data(text.utf8) }

    static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
