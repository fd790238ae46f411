import Formats

/// A purchase from a store other than Apple's, as the app received it and Cleeng expects it. Stored as JSON with the
/// store's names. Prints only its store: the holder of a token can act on the purchase.
public struct StoreReceipt: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public let platform: StorePlatform
    /// Values by the names of the store's ``ReceiptForm``. The required ones are present.
    private let values: [String: SentScalar]

    /// A JSON number or text, as the app wrote it.
    public enum SentScalar: Sendable, Hashable {
        case number(String)
        case text(String)
    }

    /// - Returns: nil if the store's purchases have no fields (Apple's), or if a required one is missing.
    public init?(_ platform: StorePlatform, _ values: [String: SentScalar]) {
        guard let form = platform.receipt,
            form.fields.allSatisfy({ !$0.isRequired || values[$0.name]?.text != nil })
        else { return nil }
        self.platform = platform
        self.values = values
    }

    public var description: String { "StoreReceipt(\(platform.rawValue))" }
    public var customMirror: Mirror { Mirror(self, children: ["platform": platform]) }

    /// The fields that the app sent, in the order of the store's form.
    public var members: [(field: ReceiptForm.Field, value: SentScalar)] {
        (platform.receipt?.fields ?? []).compactMap { field in values[field.name].map { (field, $0) } }
    }

    /// Product as the app sent it; nil for Amazon, whose receipts do not contain it.
    public var productID: ProductID? { ProductID(text(platform.receipt?.product)) }

    /// Id of the order; nil if the app sent none, or if the store names no orders.
    public var orderID: TransactionID? { TransactionID(text(platform.receipt?.order)) }

    /// Id of the transaction as the app sent it.
    public var transactionID: TransactionID { orderID ?? TransactionID(query.id) }

    /// Key of the subscription by what the app sent: the id that the store keeps through all renewals. If the store
    /// names renewals, the app may send a renewal's id; the store's answer names the original.
    public var subscriptionKey: TransactionID { platform.subscriptionKey(TransactionID(query.id)) }

    public var query: ExternalStoreQuery {
        let names = platform.receipt?.query
        return ExternalStoreQuery(
            platform, id: text(names?.id) ?? "", detail: BundleID(text(names?.detail)),
            product: ProductID(text(names?.product)))
    }

    private func text(_ name: String?) -> String? { name.flatMap { values[$0]?.text } }
}

extension StoreReceipt.SentScalar {
    public var text: String? { if case .text(let text) = self { text } else { nil } }
}

extension StoreReceipt {
    /// The stored form: an object of texts. A field that may be a number is an object that names its type.
    public var json: [UInt8] {
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        for (field, value) in members {
            writer.name(field.name)
            if field.isScalar { writer.beginObject() }
            switch value {
            case .number(let digits): writer.field("number", digits)
            case .text(let text) where field.isScalar: writer.field("text", text)
            case .text(let text): writer.value(text)
            }
            if field.isScalar { writer.endObject() }
        }
        writer.endObject()
        return writer.bytes
    }
}

extension StoreReceipt.SentScalar: Decodable {
    private enum Key: CodingKey { case number, text }

    /// Reads a member of ``StoreReceipt/json``.
    public init(from decoder: any Decoder) throws {
        if let text = try? decoder.singleValueContainer().decode(String.self) {
            self = .text(text)
            return
        }
        let fields = try decoder.container(keyedBy: Key.self)
        if let number = try fields.decodeIfPresent(String.self, forKey: .number) {
            self = .number(number)
        } else {
            self = .text(try fields.decode(String.self, forKey: .text))
        }
    }
}
