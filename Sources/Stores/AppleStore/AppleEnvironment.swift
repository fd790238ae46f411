/// Where a purchase was made: the store's name for it, and its kind.
///
/// The value comes from the purchase itself, so it never decides how, or whether, that purchase is verified.
public struct AppleEnvironment: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case production, sandbox
        /// StoreKit testing in Xcode and on the command line: signed by a key on the developer's own machine.
        case xcode, localTesting
        /// A name that Apple added later, or no name.
        case unknown
    }

    public let kind: Kind
    /// The store's own text, such as `ProductionSandbox`; empty if the purchase names no environment.
    public let raw: String

    public static let unnamed = AppleEnvironment(raw: "")
}

extension AppleEnvironment {
    public init(raw: String) {
        self.raw = raw
        kind =
            switch raw {
            // Names in receipts (type 0, observed), and names of volume purchases in verifyReceipt.
            case "Production", "ProductionVPP": .production
            case "Sandbox", "ProductionSandbox", "ProductionVPPSandbox": .sandbox
            case "Xcode": .xcode
            case "LocalTesting": .localTesting
            default: .unknown
            }
    }
}
