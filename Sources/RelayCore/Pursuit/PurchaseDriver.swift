/// How a purchase goes to Cleeng. The numbers are stored.
public enum PurchaseDriver: Int16, Sendable, CaseIterable {
    /// Its receipt, by `/apple/payment`; the entitlement says whether access was granted.
    case receipt = 0
    /// Its transaction, by StoreKit 2; Cleeng's synchronization says so.
    case storekit2 = 1

    public var name: String {
        switch self {
        case .receipt: "receipt"
        case .storekit2: "storekit2"
        }
    }

    public var firstPhase: Pursuit.Phase { self == .receipt ? .forwarding : .registering }
}
