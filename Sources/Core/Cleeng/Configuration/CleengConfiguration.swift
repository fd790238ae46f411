import OutboundHTTP
public import RelayCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Addresses and limits for calls to Cleeng. Validated on creation, so that a typing error stops the start.
public struct CleengConfiguration: Sendable {
    public let publisherToken: Secret
    /// `POST {paymentURL}/apple/payment`, and the other stores' paths; without a trailing slash.
    public let paymentURL: String
    /// `GET {apiURL}/3.1/entitlements` and `POST {apiURL}/3.0/json-rpc`; without a trailing slash.
    public let apiURL: String
    /// `POST {storeKit2URL}/storekit2/purchases`; without a trailing slash.
    public let storeKit2URL: String
    /// `POST {googleURL}/purchases`; without a trailing slash. Nil: the Google Play connector is not used.
    public let googleURL: String?
    public let entitlementSource: EntitlementSource
    /// Tags by offer, for ``EntitlementSource/accessibleTags``. A missing offer has its own id as its only tag.
    public let tagsByOffer: [OfferID: [TagID]]
    /// Time for one payment, or one entitlement read with all its pages: from the first byte sent to the last one read.
    public let upstreamTimeout: Duration
    /// Bound of a response's body.
    public let maxResponseBytes: Int
    public let connectionsPerHost: Int

    /// - Throws: ``CleengConfigurationError`` naming the first setting that cannot work.
    public init(
        publisherToken: Secret,
        paymentURL: String,
        apiURL: String,
        storeKit2URL: String = "https://inapp.api.sandbox.cleeng.com",
        googleURL: String? = nil,
        entitlementSource: EntitlementSource = .entitlements,
        tagsByOffer: [OfferID: [TagID]] = [:],
        upstreamTimeout: Duration = .seconds(20),
        maxResponseBytes: Int = 1 << 20,
        connectionsPerHost: Int = 64
    ) throws(CleengConfigurationError) {
        let token = publisherToken.exposed.utf8
        guard (1...512).contains(token.count), token.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .publisherToken
        }
        guard let paymentURL = Self.base(paymentURL) else { throw .paymentURL }
        guard let apiURL = Self.base(apiURL) else { throw .apiURL }
        guard let storeKit2URL = Self.base(storeKit2URL) else { throw .storeKit2URL }
        let connector = googleURL.map { Self.base($0) }
        if case .some(nil) = connector { throw .googleURL }
        guard upstreamTimeout > .zero, upstreamTimeout <= .seconds(3600) else { throw .upstreamTimeout }
        guard (1024...(64 << 20)).contains(maxResponseBytes) else { throw .maxResponseBytes }
        guard (1...10_000).contains(connectionsPerHost) else { throw .connectionsPerHost }
        self.publisherToken = publisherToken
        self.paymentURL = paymentURL
        self.apiURL = apiURL
        self.storeKit2URL = storeKit2URL
        self.googleURL = connector ?? nil
        self.entitlementSource = entitlementSource
        self.tagsByOffer = tagsByOffer
        self.upstreamTimeout = upstreamTimeout
        self.maxResponseBytes = maxResponseBytes
        self.connectionsPerHost = connectionsPerHost
    }

    /// The URL that paths are appended to; nil if the text is not a URL, or has a user, a query or a fragment.
    private static func base(_ text: String) -> String? {
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        guard text.utf8.count <= 2048,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "@") }),
            !text.utf8.contains(UInt8(ascii: "?")), !text.utf8.contains(UInt8(ascii: "#")),
            URL(string: text) != nil, Origin(of: text) != nil
        else { return nil }
        return text
    }
}

/// An invalid setting of ``CleengConfiguration``. Never contains the value, which may be a secret.
public enum CleengConfigurationError: String, Error, CustomStringConvertible {
    case publisherToken = "the publisher token must be 1 to 512 visible ASCII characters"
    case paymentURL = "the payment URL must be http(s)://host[:port][/path], nothing else"
    case apiURL = "the API URL must be http(s)://host[:port][/path], nothing else"
    case storeKit2URL = "the StoreKit 2 URL must be http(s)://host[:port][/path], nothing else"
    case googleURL = "the Google Play connector's URL must be http(s)://host[:port][/path], nothing else"
    case upstreamTimeout = "the upstream timeout must be more than 0 s and at most 1 h"
    case maxResponseBytes = "the largest response must be 1 KiB to 64 MiB"
    case connectionsPerHost = "the connections for each host must be 1 to 10,000"

    /// Suitable for one line on standard error.
    public var description: String { rawValue }
}

/// The Cleeng API that reports whether a customer has access.
public enum EntitlementSource: String, Sendable, Hashable, Codable, CaseIterable {
    /// `GET /3.1/entitlements` by the customer's email.
    case entitlements
    /// JSON-RPC `getAccessibleTags`, for publishers that sell by tag.
    case accessibleTags = "accessible-tags"
}

/// Text that must appear in no log line, error or dump: every way to print it gives `***`.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text itself. Read it only where it goes on the wire.
    public let exposed: String

    public init(_ text: String) { exposed = text }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
