/// Why a document is not from the App Store, or not for us. Holds nothing of the content, so it may be logged and
/// counted.
public struct NotGenuine: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Code: String, Sendable, CaseIterable {
        /// It could not be read at all.
        case unreadable
        /// It has no signer, or several.
        case unsigned
        /// An algorithm that Apple does not sign with.
        case algorithm
        /// The signer's certificate, or one above it, is missing, malformed or redundant.
        case certificates
        /// Its chain ends in a root that is not trusted.
        case untrustedRoot = "untrusted_root"
        /// The certificates do not form a chain, or were not valid at the time of signing.
        case chain
        /// Certificates of Apple that do not sign receipts and transactions.
        case purpose
        /// It has no date, so its certificates cannot be verified as of a time.
        case noDate = "no_date"
        /// The signature does not match the content.
        case signature
        /// Genuine, but for another app.
        case bundle
        case appId = "app_id"
        /// Genuine, but from an environment that is not accepted here.
        case environment
        /// A part is genuine, but belongs to something else.
        case mismatch
    }

    public let code: Code
    /// One sentence, only in this library's own words.
    public let detail: String

    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    public var description: String { "\(code.rawValue): \(detail)" }
}

/// Result of verifying a signature.
public struct Genuine: Sendable, Hashable {
    /// Whether the key belongs to a developer's machine (StoreKit testing) and was added to the trusted roots. Such a
    /// key may sign anything. Only documents that claim the Xcode environment may be accepted from it.
    public let isLocal: Bool
}
