/// Differences between stores. A new store adds a row to ``StorePlatform/traits``, which the rest of the code reads.
public struct StoreTraits: Sendable {
    /// Name for use within a sentence.
    public let title: String
    /// Driver of its purchases without a connector.
    public let driver: PurchaseDriver
    /// Path at which apps send its purchases, and by which Cleeng receives them.
    public let paymentPath: String
    /// The field of a purchase's body with the store's data.
    public var receiptField = "receipt"
    /// The fields of that data. Apple's receipts have none: they are read elsewhere.
    public var receipt: ReceiptForm?
    /// Whether ``PurchaseFields/detail`` of its data is the app.
    public var namesApp = false
    /// Whether Cleeng accepts a coupon for its purchases.
    public var takesCoupons = true
    /// The app type that validations show for its purchases.
    public let appType: String
    /// Whether a lost refund can be found later in one of the store's lists: Google's voided purchases, Apple's history
    /// of notifications.
    public var listsVoided = false
    /// Whether each renewal has an id of its own that also finds the subscription. The store's answer then names the
    /// key.
    public var namesRenewals = false
    /// billwerk's name in `Type`.
    public let iapType: String
    /// Fields by which billwerk names a purchase to check; nil for Apple's, which are read elsewhere.
    public var iapFields: PurchaseFields?
    /// The name of its purchases in answers to validators.
    public let validatorType: String
    /// Whether validators send purchases under that name.
    public var isValidated = true
    /// The setting that gives the relay access to the store.
    public let accessSetting: String
}

/// Names of the fields by which a store is asked about a purchase. See ``ExternalStoreQuery``.
public struct PurchaseFields: Sendable {
    public let id: String
    public var detail: String?
    public var product: String?
}

/// The fields of a store's purchase data, in the order in which they are written.
public struct ReceiptForm: Sendable {
    public struct Field: Sendable {
        public let name: String
        public var isRequired = false
        /// Longest text in bytes.
        public var mostBytes: Int
        /// Whether numbers are forwarded as numbers. The stored form then says which it is.
        public var isScalar = false
        /// Whether the text may be empty or hold control characters.
        public var isFree = false

        /// Google's tokens have about two hundred characters. A key in the database must be able to hold one.
        static func required(_ name: String) -> Self { Self(name: name, isRequired: true, mostBytes: 1_024) }
        static func optional(_ name: String, most: Int) -> Self { Self(name: name, mostBytes: most) }
        static func free(_ name: String) -> Self { Self(name: name, mostBytes: 4_096, isFree: true) }
        static func scalar(_ name: String) -> Self { Self(name: name, mostBytes: 255, isScalar: true) }
    }

    public let fields: [Field]
    /// The fields that name the purchase to its store.
    public let query: PurchaseFields
    /// The field with the order's id, if it is not the one by which the store is asked.
    public var order: String?
    /// The field with the product; nil if the data does not contain it.
    public var product: String?

    /// Whether numbers are stored as numbers. Otherwise they become text.
    public var keepsNumbers: Bool { fields.contains(where: \.isScalar) }
}

extension StorePlatform {
    public var traits: StoreTraits {
        switch self {
        case .apple: .apple
        case .google: .google
        case .amazon: .amazon
        case .roku: .roku
        }
    }
}

extension StoreTraits {
    fileprivate static let apple = StoreTraits(
        title: "the App Store", driver: .receipt, paymentPath: "/apple/payment", appType: "ios",
        listsVoided: true, iapType: "AppleIap", validatorType: "ios-appstore",
        accessSetting: "RELAY_APPLE_API_KEY_FILE")

    /// Numbers are text, as in Cleeng's own example.
    fileprivate static let google = StoreTraits(
        title: "Google Play", driver: .google, paymentPath: "/android/payment",
        receipt: ReceiptForm(
            fields: [
                .required("productId"), .required("purchaseToken"), .required("packageName"),
                .optional("orderId", most: 255), .optional("purchaseState", most: 64),
                .optional("purchaseTime", most: 64), .free("developerPayload"),
            ], query: PurchaseFields(id: "purchaseToken", detail: "packageName", product: "productId"),
            order: "orderId", product: "productId"),
        namesApp: true, appType: "android", listsVoided: true, iapType: "GoogleIap",
        iapFields: PurchaseFields(
            id: "GoogleIapToken", detail: "GoogleIapPackageName", product: "GoogleIapSubscriptionId"),
        validatorType: "android-playstore", accessSetting: "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE")

    fileprivate static let amazon = StoreTraits(
        title: "the Amazon Appstore", driver: .amazon, paymentPath: "/amazon/payment",
        receipt: ReceiptForm(
            fields: [.required("receiptId"), .required("userId")],
            query: PurchaseFields(id: "receiptId", detail: "userId")),
        takesCoupons: false, appType: "amazon", iapType: "AmazonIap",
        iapFields: PurchaseFields(id: "AmazonIapReceiptId", detail: "AmazonIapUserId"),
        validatorType: "amazon-appstore", accessSetting: "RELAY_AMAZON_SHARED_SECRET")

    /// The validators' plugin has no name for Roku; ours labels its purchases.
    fileprivate static let roku = StoreTraits(
        title: "Roku Pay", driver: .roku, paymentPath: "/roku/payment", receiptField: "order",
        receipt: ReceiptForm(
            fields: [
                .required("purchaseId"), .required("code"), .scalar("amount"), .scalar("qty"), .scalar("total"),
            ], query: PurchaseFields(id: "purchaseId"), product: "code"),
        takesCoupons: false, appType: "roku", namesRenewals: true, iapType: "RokuPay",
        iapFields: PurchaseFields(id: "RokuPayTransactionId"), validatorType: "roku-pay", isValidated: false,
        accessSetting: "RELAY_ROKU_API_KEY")
}
