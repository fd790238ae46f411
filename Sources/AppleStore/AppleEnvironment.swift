/// Where a purchase was made, as the store named it, and what that means here.
///
/// It comes out of the purchase itself and therefore never decides how, or whether, that purchase is verified.
public struct AppleEnvironment: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case production, sandbox
        /// StoreKit testing in Xcode, and its command-line relative: signed by a key on the developer's own machine.
        case xcode, localTesting
        /// A name that Apple added later, or none at all.
        case unknown
    }

    public let kind: Kind
    /// The store's own word, `ProductionSandbox` for instance; empty where the purchase names no environment.
    public let raw: String

    public static let unnamed = AppleEnvironment(raw: "")
}

extension AppleEnvironment {
    public init(raw: String) {
        self.raw = raw
        kind =
            switch raw {
            // The first two of a receipt (type 0, observed), volume purchases as verifyReceipt names them.
            case "Production", "ProductionVPP": .production
            case "Sandbox", "ProductionSandbox", "ProductionVPPSandbox": .sandbox
            case "Xcode": .xcode
            case "LocalTesting": .localTesting
            default: .unknown
            }
    }
}
