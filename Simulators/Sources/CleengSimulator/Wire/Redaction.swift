/// Takes receipts, signed texts, tokens and passwords out of what is kept of a body, and bounds the rest.
struct Redaction: Sendable {
    let receipt: ReceiptSummary?
    let publisherToken: String

    /// How many values of one body are kept at most.
    static let limit = 200
    /// Fields of notifications that hold what a receipt holds.
    private static let signed: Set = ["signedPayload", "latest_receipt"]
    /// Fields of payments by which a purchase can be asked for.
    private static let receipts: Set = ["receiptData", "purchaseToken", "receiptId"]

    func shown(_ value: JSONValue) -> JSONValue {
        var budget = Self.limit
        return shown(value, key: "", &budget)
    }

    private func shown(_ value: JSONValue, key: String, _ budget: inout Int) -> JSONValue {
        budget -= 1
        guard budget >= 0 else { return .string("…") }
        // The secret that version 1 notifications carry, whatever its shape.
        if key == "password", !value.isNull { return .string(TokenPresence.present.rawValue) }
        switch value {
        case .string(let text) where Self.receipts.contains(key):
            let isWhole = key == "receiptData" ? receipt : nil
            let summary = isWhole ?? ReceiptSummary(receiptData: text, originalTransactionId: nil)
            return .object([
                "sha256": .string(summary.sha256), "length": .int(Int64(summary.length)),
                "originalTransactionId": .optional(summary.originalTransactionId),
            ])
        case .string(let text) where Self.signed.contains(key):
            let summary = ReceiptSummary(receiptData: text, originalTransactionId: nil)
            return .object(["sha256": .string(summary.sha256), "length": .int(Int64(summary.length))])
        case .string(let text) where key == "publisherToken":
            return .string(TokenPresence(text, expected: publisherToken).rawValue)
        case .string(let text):
            return .string(Self.bounded(text))
        case .array(let elements):
            var kept: [JSONValue] = []
            for element in elements where budget > 0 { kept.append(shown(element, key: key, &budget)) }
            return .array(kept)
        case .object(let fields):
            var kept: [String: JSONValue] = [:]
            for (name, field) in fields where budget > 0 {
                kept[Self.bounded(name)] = shown(field, key: name, &budget)
            }
            return .object(kept)
        case .null, .bool, .int, .double:
            return value
        }
    }

    static func bounded(_ text: String) -> String {
        text.utf8.count <= 512 ? text : String(text.prefix(256)) + "…"
    }
}
