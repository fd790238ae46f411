/// One of Cleeng's connectors. It registers a purchase by the store's id, and Cleeng names a synchronization. Cleeng
/// reports the result of the synchronization later.
public enum Connector: Sendable, Hashable, CaseIterable {
    /// StoreKit 2: registers by the App Store's transaction.
    case storekit2
    /// Google Play Billing V2: registers by the purchase token.
    case google

    /// The driver of purchases that use this connector.
    public var driver: PurchaseDriver {
        switch self {
        case .storekit2: .storekit2
        case .google: .googleV2
        }
    }
}
