/// A purchase from a store other than Apple's, as the app received it and Cleeng expects it. Stored as JSON with these
/// names.
public enum StoreReceipt: Sendable, Hashable {
    case google(Google)
    case amazon(Amazon)
    case roku(Roku)

    /// Google's purchase. Numbers are text, as in Cleeng's own example.
    public struct Google: Sendable, Hashable, Codable {
        public var productId: ProductID
        public var purchaseToken: String
        public var packageName: BundleID
        public var orderId: String?
        public var purchaseState: String?
        public var purchaseTime: String?
        public var developerPayload: String?

        public init(
            productId: ProductID, purchaseToken: String, packageName: BundleID, orderId: String?,
            purchaseState: String?,
            purchaseTime: String?, developerPayload: String?
        ) {
            self.productId = productId
            self.purchaseToken = purchaseToken
            self.packageName = packageName
            self.orderId = orderId
            self.purchaseState = purchaseState
            self.purchaseTime = purchaseTime
            self.developerPayload = developerPayload
        }
    }

    public struct Amazon: Sendable, Hashable, Codable {
        public var receiptId: String
        public var userId: String

        public init(receiptId: String, userId: String) {
            self.receiptId = receiptId
            self.userId = userId
        }
    }

    /// An order of Roku Pay. Numbers and texts are forwarded unchanged.
    public struct Roku: Sendable, Hashable, Codable {
        /// Id of the transaction.
        public var purchaseId: String
        /// Id of the product.
        public var code: ProductID
        public var amount: SentScalar?
        public var qty: SentScalar?
        public var total: SentScalar?

        public init(
            purchaseId: String, code: ProductID, amount: SentScalar?, qty: SentScalar?, total: SentScalar?
        ) {
            self.purchaseId = purchaseId
            self.code = code
            self.amount = amount
            self.qty = qty
            self.total = total
        }
    }

    /// A JSON number or text, as the app wrote it.
    public enum SentScalar: Sendable, Hashable {
        case number(String)
        case text(String)
    }

    public var driver: PurchaseDriver {
        switch self {
        case .google: .google
        case .amazon: .amazon
        case .roku: .roku
        }
    }

    /// The app type that validations show for such a purchase.
    public var appType: String {
        switch self {
        case .google: "android"
        case .amazon: "amazon"
        case .roku: "roku"
        }
    }

    /// Product as the app sent it; nil for Amazon, whose receipts do not contain it.
    public var productID: ProductID? {
        switch self {
        case .google(let receipt): receipt.productId
        case .amazon: nil
        case .roku(let order): order.code
        }
    }

    /// Id of the transaction as the app sent it.
    public var transactionID: TransactionID {
        switch self {
        case .google(let receipt): TransactionID(receipt.orderId ?? receipt.purchaseToken)
        case .amazon(let receipt): TransactionID(receipt.receiptId)
        case .roku(let order): TransactionID(order.purchaseId)
        }
    }

    /// Key of the subscription by what the app sent: the id that the store keeps through all renewals. For Roku, the
    /// app may send a renewal's id; the store's answer names the original.
    public var subscriptionKey: TransactionID {
        switch self {
        case .google(let receipt): StorePlatform.google.subscriptionKey(TransactionID(receipt.purchaseToken))
        case .amazon(let receipt): StorePlatform.amazon.subscriptionKey(TransactionID(receipt.receiptId))
        case .roku(let receipt): StorePlatform.roku.subscriptionKey(TransactionID(receipt.purchaseId))
        }
    }

    /// What a query to the store needs in addition: the app for Google, the store's user for Amazon, nothing for Roku.
    public var queryDetail: BundleID? {
        switch self {
        case .google(let receipt): receipt.packageName
        case .amazon(let receipt): BundleID(receipt.userId)
        case .roku: nil
        }
    }

    public var query: ExternalStoreQuery {
        switch self {
        case .google(let receipt):
            .google(
                packageName: receipt.packageName, subscriptionID: receipt.productId.text, token: receipt.purchaseToken)
        case .amazon(let receipt): .amazon(receiptID: receipt.receiptId, userID: receipt.userId)
        case .roku(let receipt): .roku(transactionID: receipt.purchaseId)
        }
    }
}

/// How a purchase is sent to Cleeng. Raw values are stored.
public enum PurchaseDriver: Int16, Sendable, CaseIterable {
    /// Apple's receipt, to `/apple/payment`. An entitlement read shows whether access was granted.
    case receipt = 0
    /// Apple's transaction, to the StoreKit 2 connector. Cleeng's synchronization reports whether access was granted.
    case storekit2 = 1
    /// Google Play's data from the app, to `/android/payment`; then as for a receipt.
    case google = 2
    /// Amazon's data from the app, to `/amazon/payment`; then as for a receipt.
    case amazon = 3
    /// Roku's data from the app, to `/roku/payment`; then as for a receipt.
    case roku = 4
    /// Google Play's data from the app, to the Google Play connector. Cleeng's synchronization reports whether access
    /// was granted.
    case googleV2 = 5

    public var name: String {
        switch self {
        case .receipt: "receipt"
        case .storekit2: "storekit2"
        case .google: "google"
        case .amazon: "amazon"
        case .roku: "roku"
        case .googleV2: "google_v2"
        }
    }

    /// Nil if the purchase is sent as a receipt.
    public var connector: Connector? { Connector.allCases.first { $0.driver == self } }

    public var firstPhase: Pursuit.Phase { connector.map { .registering($0) } ?? .forwarding }
    /// Whether Cleeng receives what the app sent. Otherwise the transaction id suffices.
    public var sendsReceipt: Bool { self != .storekit2 }
}

extension StoreReceipt.SentScalar: Codable {
    private enum Key: CodingKey { case number, text }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        self =
            if let number = try fields.decodeIfPresent(String.self, forKey: .number) {
                .number(number)
            } else {
                .text(try fields.decode(String.self, forKey: .text))
            }
    }

    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Key.self)
        switch self {
        case .number(let number): try fields.encode(number, forKey: .number)
        case .text(let text): try fields.encode(text, forKey: .text)
        }
    }
}
