/// A setting of ``CleengConfiguration`` that cannot work. Says which, and never its value: one of them is a secret.
public struct CleengConfigurationError: Error, Equatable, CustomStringConvertible {
    private enum Code {
        case publisherToken, paymentURL, apiURL, storeKit2URL, upstreamTimeout, maxResponseBytes, connectionsPerHost
    }

    private let code: Code
    /// Fit for one line on standard error.
    public let shortDescription: String

    public var description: String { shortDescription }

    public static func == (left: Self, right: Self) -> Bool { left.code == right.code }

    public static let publisherToken = Self(
        code: .publisherToken, shortDescription: "the publisher token must be 1 to 512 visible ASCII characters")
    public static let paymentURL = Self(
        code: .paymentURL, shortDescription: "the payment URL must be http(s)://host[:port][/path], nothing else")
    public static let apiURL = Self(
        code: .apiURL, shortDescription: "the API URL must be http(s)://host[:port][/path], nothing else")
    public static let storeKit2URL = Self(
        code: .storeKit2URL, shortDescription: "the StoreKit 2 URL must be http(s)://host[:port][/path], nothing else")
    public static let upstreamTimeout = Self(
        code: .upstreamTimeout, shortDescription: "the upstream timeout must be more than 0 s and at most 1 h")
    public static let maxResponseBytes = Self(
        code: .maxResponseBytes, shortDescription: "the largest response must be 1 KiB to 64 MiB")
    public static let connectionsPerHost = Self(
        code: .connectionsPerHost, shortDescription: "the connections for each host must be 1 to 10,000")
}
