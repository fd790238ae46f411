public import AsyncHTTPClient
import Formats
public import Logging
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore
public import StoreAPI

/// Client of Amazon's Receipt Verification Service. Its methods never throw and keep their time limit.
///
/// The shared secret is part of the path. Therefore no URL appears in a log, an error or an answer. Debug logs hold
/// only status and duration.
public struct AmazonReceiptClient: Sendable {
    private let url: String
    private let secret: AmazonSecret
    private let timeout: Duration
    private let httpClient: HTTPClient
    private let logger: Logger

    /// A receipt takes less than one KiB.
    private static let mostBytes = 65_536

    /// - Parameters:
    ///   - url: `https://appstore-sdk.amazon.com`, with `/sandbox` for receipts of the App Tester; no trailing slash.
    ///   - httpClient: shut down by its creator.
    public init(url: String, secret: AmazonSecret, timeout: Duration, httpClient: HTTPClient, logger: Logger) {
        self.url = url
        self.secret = secret
        self.timeout = timeout
        self.httpClient = httpClient
        self.logger = logger
    }

    /// Returns a purchase's state: `verifyReceiptId`, version 1.0.
    ///
    /// - Parameter readAt: time of the statement.
    public func receipt(
        _ receiptID: String, userID: String, readAt: Timestamp
    ) async -> StoreAnswer<StoreSubscription> {
        guard let user = userID.pathSegment(), let receipt = receiptID.pathSegment() else {
            return .notAPurchase("invalid")
        }
        guard let secret = secret.text.pathSegment() else { return .misconfigured("the shared secret") }
        let request = OutboundRequest(
            url: "\(url)/version/1.0/verifyReceiptId/developer/\(secret)/user/\(user)/receiptId/\(receipt)",
            headers: ["Accept": "application/json"])
        let start = ContinuousClock.now
        let reply: HTTPReply
        do {
            reply = try await HTTPExchange(httpClient, by: start + timeout, atMost: Self.mostBytes)
                .send(request, route: "verifyReceiptId").whole()
        } catch {
            return .tryAgain(error.rawValue, retryAfter: nil)
        }
        logger.debug(
            "amazon answered",
            metadata: [
                "upstream_status": .stringConvertible(reply.status),
                "duration_ms": .stringConvertible(start.duration(to: .now) / .milliseconds(1)),
            ])
        guard reply.status == 200 else { return Self.refusal(reply) }
        let found = JSONValue(reply.wholeBody).flatMap {
            StoreSubscription(amazon: $0, receiptID: receiptID, readAt: readAt)
        }
        return found.map { .found($0) } ?? .tryAgain("unreadable", retryAfter: nil)
    }

    /// Interprets an answer with a status other than 200.
    ///
    /// | status | means | Amazon's words |
    /// | --- | --- | --- |
    /// | 400 | not a purchase | the transaction is invalid, or there is none for this receipt id |
    /// | 410 | not a purchase | the transaction is no longer valid |
    /// | 497 | not a purchase | the user id is invalid |
    /// | 496 | our secret | the shared secret is invalid |
    /// | 408, 409, 429, 5xx | try again | too many requests; an internal error |
    /// | all else | our settings | |
    private static func refusal(_ reply: HTTPReply) -> StoreAnswer<StoreSubscription> {
        switch reply.status {
        case 400: return .notAPurchase("invalid")
        case 410: return .notAPurchase("gone")
        case 497: return .notAPurchase("user")
        case 496: return .misconfigured("the shared secret is refused")
        case 408, 409, 425, 429, 500...:
            return .tryAgain("HTTP \(reply.status)", retryAfter: reply.headers.retryAfter())
        default: return .misconfigured("HTTP \(reply.status)")
        }
    }
}

/// The shared secret of a developer's account. It is used only in the URL path: every way to print it gives `***`.
public struct AmazonSecret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    let text: String

    /// - Returns: nil if Amazon cannot have issued it: secrets have letters, digits and a few signs, and no spaces.
    public init?(_ text: String) {
        guard (1...512).contains(text.utf8.count), text != ".", text != "..",
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
    }

    public var description: String { "***" }
    public var debugDescription: String { "***" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
