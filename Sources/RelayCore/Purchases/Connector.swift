/// One of Cleeng's connectors: a purchase is registered by what its store knows it by, Cleeng names a synchronization, and that says
/// later what came of it.
public enum Connector: Sendable, Hashable, CaseIterable {
    /// StoreKit 2: by the App Store's transaction.
    case storekit2
    /// Google Play Billing V2: by the purchase token.
    case google

    /// The driver of purchases that go this way.
    public var driver: PurchaseDriver {
        switch self {
        case .storekit2: .storekit2
        case .google: .googleV2
        }
    }
}
