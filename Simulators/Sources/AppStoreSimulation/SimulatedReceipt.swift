public import Foundation

/// What an app receipt is to say. Source of the numbers and encodings: Apple, Receipt Validation Programming Guide, "Receipt
/// Fields", and what receipts were seen to hold.
public struct SimulatedReceipt: Sendable {
    public struct Purchase: Sendable {
        public var productId: String
        public var transactionId: String
        public var originalTransactionId: String
        public var purchaseDate: Date
        public var originalPurchaseDate: Date
        public var expiresDate: Date?
        public var cancellationDate: Date?
        /// Nil writes none.
        public var webOrderLineItemId: Int64?

        public init(
            productId: String, transactionId: String, originalTransactionId: String, purchaseDate: Date,
            originalPurchaseDate: Date, expiresDate: Date?, cancellationDate: Date? = nil,
            webOrderLineItemId: Int64? = nil
        ) {
            self.productId = productId
            self.transactionId = transactionId
            self.originalTransactionId = originalTransactionId
            self.purchaseDate = purchaseDate
            self.originalPurchaseDate = originalPurchaseDate
            self.expiresDate = expiresDate
            self.cancellationDate = cancellationDate
            self.webOrderLineItemId = webOrderLineItemId
        }
    }

    /// `Production`, `ProductionSandbox` or `Xcode`.
    public var environment: String
    public var bundleId: String
    /// Nil writes none, as nobody does.
    public var creationDate: Date?
    public var purchases: [Purchase]

    public init(environment: String, bundleId: String, creationDate: Date?, purchases: [Purchase]) {
        self.environment = environment
        self.bundleId = bundleId
        self.creationDate = creationDate
        self.purchases = purchases
    }

    /// The signed octets.
    var payload: [UInt8] {
        var attributes = [
            Self.attribute(0, .utf8String(environment)), Self.attribute(2, .utf8String(bundleId)),
            Self.attribute(3, .utf8String("1")), Self.attribute(4, DERItem(contents: [0x5A, 0x5A])),
            Self.attribute(5, DERItem(contents: [UInt8](repeating: 7, count: 20))),
            Self.attribute(19, .utf8String("1.0")),
        ]
        if let creationDate { attributes.append(Self.attribute(12, Self.date(creationDate))) }
        attributes += purchases.map { Self.attribute(17, Self.item($0)) }
        return DERItem.set(attributes).encoded
    }

    private static func item(_ purchase: Purchase) -> DERItem {
        var attributes: [DERItem] = [
            attribute(1701, .integer(1)), attribute(1702, .utf8String(purchase.productId)),
            attribute(1703, .utf8String(purchase.transactionId)), attribute(1704, date(purchase.purchaseDate)),
            attribute(1705, .utf8String(purchase.originalTransactionId)),
            attribute(1706, date(purchase.originalPurchaseDate)),
            attribute(1708, purchase.expiresDate.map(date) ?? .ia5String("")),
            attribute(1712, purchase.cancellationDate.map(date) ?? .ia5String("")),
            attribute(1707, .integer(purchase.expiresDate == nil ? 0 : 3)),
        ]
        if let line = purchase.webOrderLineItemId { attributes.append(attribute(1711, .integer(Int(line)))) }
        return .set(attributes)
    }

    private static func attribute(_ type: Int, _ value: DERItem) -> DERItem {
        .sequence([.integer(type), .integer(1), .octetString(value.encoded)])
    }

    private static func date(_ date: Date) -> DERItem {
        .ia5String(date.formatted(.iso8601))
    }
}
