/// What a store other than Apple's gave the app for a purchase, as Cleeng wants it. It is kept as JSON under these names.
public enum StoreReceipt: Sendable, Hashable {
    case google(Google)
    case amazon(Amazon)
    case roku(Roku)

    /// Numbers as text, as Cleeng's own example has them.
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

    /// An order of Roku Pay. Numbers and texts go on as they came.
    public struct Roku: Sendable, Hashable, Codable {
        /// The transaction's id.
        public var purchaseId: String
        /// The product.
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

    /// A number or a text of JSON, as an app wrote it.
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

    /// The kind of app that such a purchase is made in, as validations show it.
    public var appType: String {
        switch self {
        case .google: "android"
        case .amazon: "amazon"
        case .roku: "roku"
        }
    }

    /// As far as the app says; Amazon's receipts name none.
    public var productID: ProductID? {
        switch self {
        case .google(let receipt): receipt.productId
        case .amazon: nil
        case .roku(let order): order.code
        }
    }

    /// The transaction, as the app names it.
    public var transactionID: TransactionID {
        switch self {
        case .google(let receipt): TransactionID(receipt.orderId ?? receipt.purchaseToken)
        case .amazon(let receipt): TransactionID(receipt.receiptId)
        case .roku(let order): TransactionID(order.purchaseId)
        }
    }

    /// The key of the subscription, as far as the app knows it: what the store knows it by through all renewals. An app may send the id of one of
    /// Roku's renewals; the store's answer names the original.
    public var subscriptionKey: TransactionID {
        switch self {
        case .google(let receipt): StorePlatform.google.subscriptionKey(TransactionID(receipt.purchaseToken))
        case .amazon(let receipt): StorePlatform.amazon.subscriptionKey(TransactionID(receipt.receiptId))
        case .roku(let receipt): StorePlatform.roku.subscriptionKey(TransactionID(receipt.purchaseId))
        }
    }

    /// What else it takes to ask the store about it: the app at Google, the store's user at Amazon, nothing at Roku.
    public var asked: BundleID? {
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

/// How a purchase goes to Cleeng. The numbers are stored.
public enum PurchaseDriver: Int16, Sendable, CaseIterable {
    /// Its receipt, by `/apple/payment`; the entitlement says whether access was granted.
    case receipt = 0
    /// Its transaction, by StoreKit 2; Cleeng's synchronization says so.
    case storekit2 = 1
    /// What Google Play gave the app, by `/android/payment`; then as a receipt.
    case google = 2
    /// What Amazon gave the app, by `/amazon/payment`; then as a receipt.
    case amazon = 3
    /// What Roku gave the app, by `/roku/payment`; then as a receipt.
    case roku = 4
    /// What Google Play gave the app, by the Google Play connector; Cleeng's synchronization says whether access was granted.
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

    /// Nil where the purchase goes as a receipt.
    public var connector: Connector? { Connector.allCases.first { $0.driver == self } }

    public var firstPhase: Pursuit.Phase { connector.map { .registering($0) } ?? .forwarding }
    /// Whether Cleeng is sent what the app sent; else its number is enough.
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
