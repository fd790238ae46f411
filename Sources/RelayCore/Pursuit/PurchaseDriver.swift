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
