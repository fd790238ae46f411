/// Why something that claims to be the App Store's is not, or is not for us. Says nothing of the content, so it may be logged
/// and counted.
public struct NotGenuine: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, CaseIterable {
        /// It could not be read at all.
        case unreadable
        /// Nobody signed it, or several did.
        case unsigned
        /// Not an algorithm that Apple signs with.
        case algorithm
        /// The signer's certificate, or one above it, is missing, malformed or one too many.
        case certificates
        /// It leads to a root that is not trusted.
        case untrustedRoot = "untrusted_root"
        /// The certificates do not vouch for each other, or did not at the moment of signing.
        case chain
        /// Apple's, but not certificates that sign receipts and transactions.
        case purpose
        /// It does not say when it was made, so that its certificates cannot be judged.
        case noDate = "no_date"
        /// The signature is not over this content.
        case signature
        /// Genuine, and another app's.
        case bundle
        case appId = "app_id"
        /// Genuine, and of an environment that is not taken here.
        case environment
        /// One part, genuine by itself, belongs to something else.
        case mismatch
    }

    public let code: Code
    /// One sentence, of this library's own words only.
    public let detail: String

    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    public var description: String { "\(code.rawValue): \(detail)" }
}

/// What a signature proved.
public struct Genuine: Sendable, Hashable {
    /// The key is one on a developer's machine (StoreKit testing) that was added to the trusted roots. It may sign anything:
    /// only what claims to come from there is to be believed.
    public let isLocal: Bool
}
