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

    public var name: String { self == .googleV2 ? "google_v2" : "\(self)" }

    /// The store whose purchases it sends.
    public var platform: StorePlatform {
        switch self {
        case .storekit2: .apple
        case .googleV2: .google
        default: StorePlatform.allCases.first { $0.driver == self } ?? .apple
        }
    }

    /// Nil if the purchase is sent as a receipt.
    public var connector: Connector? { Connector.allCases.first { $0.driver == self } }

    public var firstPhase: Pursuit.Phase { connector.map { .registering($0) } ?? .forwarding }
    /// Whether Cleeng receives what the app sent. Otherwise the transaction id suffices.
    public var sendsReceipt: Bool { self != .storekit2 }
}
