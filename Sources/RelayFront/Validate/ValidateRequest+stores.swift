import RelayCore

extension ValidateRequest {
    /// Of Google's receipt only what it takes to ask Google counts, and nothing in it is believed.
    ///
    /// - Parameters:
    ///   - id: the order, where the receipt names none.
    ///   - product: where the receipt names none.
    ///   - app: the package, where the receipt names none.
    static func google(
        _ transaction: ValidateBody.Transaction, id: String, product: String, app: BundleID, _ reader: inout FieldReader
    ) -> StoreReceipt? {
        var fields: [String: JSONField] = [:]
        if let text = reader.optional(transaction.receipt, "transaction.receipt"), !text.isEmpty {
            guard text.utf8.count <= mostReceiptBytes, let read = StorePaymentBody.receiptFields(inText: text) else {
                reader.add(
                    FieldError(
                        "transaction.receipt", .invalid,
                        "must be the purchase as Google Play gave it: a JSON object of at most \(mostReceiptBytes) bytes"
                    ))
                return nil
            }
            fields = read
        }
        if transaction.purchaseToken != .absent { fields["purchaseToken"] = transaction.purchaseToken }
        for (name, text) in [("orderId", id), ("productId", product), ("packageName", app.text)] {
            if fields[name] ?? .absent == .absent, !text.isEmpty { fields[name] = .string(text) }
        }
        return StoreReceipt(fields, of: .google, &reader) {
            $0 == "purchaseToken" ? "transaction.purchaseToken" : "transaction.receipt: \($0)"
        }
    }

    static func amazon(_ transaction: ValidateBody.Transaction, _ reader: inout FieldReader) -> StoreReceipt? {
        StoreReceipt(
            ["receiptId": transaction.receiptID, "userId": transaction.userID], of: .amazon, &reader
        ) { "transaction.\($0)" }
    }

    /// Of Google's own receipt, which has some hundreds of bytes.
    private static let mostReceiptBytes = 16_384
}
