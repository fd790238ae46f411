extension StorePlatform {
    /// As billwerk calls it in `Type`: `AppleIap`, `GoogleIap`, `AmazonIap`.
    public var iapType: String {
        switch self {
        case .apple: "AppleIap"
        case .google: "GoogleIap"
        case .amazon: "AmazonIap"
        }
    }

    /// Without regard to case; nil for a type that the relay does not take.
    public init?(iapType: String) {
        guard let found = Self.allCases.first(where: { $0.iapType.lowercased() == iapType.lowercased() }) else {
            return nil
        }
        self = found
    }
}
