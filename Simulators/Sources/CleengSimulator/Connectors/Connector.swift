/// Cleeng's APIs that register a purchase and report the result later.
enum Connector: String, Sendable, CaseIterable {
    /// StoreKit 2, at `/storekit2/purchases`.
    case storekit2
    /// Google Play Billing V2, at `/google/purchases`.
    case google

    /// Prefix of error numbers. Cleeng has published that of StoreKit 2; Google's is the simulator's own.
    var codePrefix: String {
        switch self {
        case .storekit2: "SK2C"
        case .google: "GPBC"
        }
    }

    var appType: String {
        switch self {
        case .storekit2: "ios"
        case .google: "android"
        }
    }

    /// Result for a purchase that its store does not know.
    var notFound: SynchronizationResult {
        switch self {
        case .storekit2: .transactionNotFound
        case .google: .tokenNotFound
        }
    }
}
