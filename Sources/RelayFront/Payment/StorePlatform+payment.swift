import RelayCore

/// Requests by which apps send each store's purchases.
extension StorePlatform {
    var paymentPath: String {
        switch self {
        case .apple: "/apple/payment"
        case .google: "/android/payment"
        case .amazon: "/amazon/payment"
        case .roku: "/roku/payment"
        }
    }

    /// The field with the store's data.
    var receiptField: String { self == .roku ? "order" : "receipt" }

    /// The fields of a purchase's body.
    var paymentFields: FieldNames {
        switch self {
        case .apple: Self.appleFields
        case .google, .amazon: Self.receiptFields
        case .roku: Self.orderFields
        }
    }

    private static let appleFields = FieldNames(
        PurchaseRequest.names, within: ["receipt": PurchaseProof.Apple.names])
    private static let receiptFields = FieldNames(PurchaseRequest.names, within: ["receipt": StoreReceipt.names])
    private static let orderFields = FieldNames(PurchaseRequest.names, within: ["order": StoreReceipt.orderNames])

    /// Whether numbers in its receipts are forwarded as numbers; otherwise as their text.
    var keepsNumbers: Bool { self == .roku }

    /// Whether Cleeng accepts a coupon for its purchases.
    var takesCoupons: Bool {
        switch self {
        case .apple, .google: true
        case .amazon, .roku: false
        }
    }

    /// The setting that gives the relay access to the store.
    var accessSetting: String {
        switch self {
        case .apple: "RELAY_APPLE_API_KEY_FILE"
        case .google: "RELAY_GOOGLE_SERVICE_ACCOUNT_FILE"
        case .amazon: "RELAY_AMAZON_SHARED_SECRET"
        case .roku: "RELAY_ROKU_API_KEY"
        }
    }
}
