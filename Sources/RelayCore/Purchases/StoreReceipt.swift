/// What a store other than Apple's gave the app for a purchase, as Cleeng wants it. It is kept as JSON under these names.
public enum StoreReceipt: Sendable, Hashable {
    case google(Google)
    case amazon(Amazon)

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

    public var driver: PurchaseDriver {
        switch self {
        case .google: .google
        case .amazon: .amazon
        }
    }

    /// The key of the subscription: what the store knows it by through all renewals.
    public var subscriptionKey: TransactionID {
        switch self {
        case .google(let receipt): StorePlatform.google.subscriptionKey(TransactionID(receipt.purchaseToken))
        case .amazon(let receipt): StorePlatform.amazon.subscriptionKey(TransactionID(receipt.receiptId))
        }
    }

    /// What else it takes to ask the store about it: the app at Google, the store's user at Amazon.
    public var asked: String {
        switch self {
        case .google(let receipt): receipt.packageName.text
        case .amazon(let receipt): receipt.userId
        }
    }

    public var query: ExternalStoreQuery {
        switch self {
        case .google(let receipt):
            .google(
                packageName: receipt.packageName, subscriptionID: receipt.productId.text, token: receipt.purchaseToken)
        case .amazon(let receipt): .amazon(receiptID: receipt.receiptId, userID: receipt.userId)
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

    public var name: String {
        switch self {
        case .receipt: "receipt"
        case .storekit2: "storekit2"
        case .google: "google"
        case .amazon: "amazon"
        }
    }

    public var firstPhase: Pursuit.Phase { self == .storekit2 ? .registering : .forwarding }
    /// Whether Cleeng is sent what the app sent; else its number is enough.
    public var sendsReceipt: Bool { self != .storekit2 }
}
