public import AsyncHTTPClient
import Formats
public import Logging
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore
public import StoreAPI

/// Client of Roku Pay's transaction service. Its methods never throw and keep their time limit.
///
/// The API key is part of the path. Therefore no URL appears in a log, an error or an answer. Debug logs hold only
/// status and duration.
public struct RokuTransactionClient: Sendable {
    private let url: String
    private let key: RokuAPIKey
    private let timeout: Duration
    private let httpClient: HTTPClient
    private let logger: Logger

    /// A transaction takes less than one KiB.
    private static let mostBytes = 65_536

    /// - Parameters:
    ///   - url: `https://apipub.roku.com`, without a trailing slash.
    ///   - httpClient: shut down by its creator.
    public init(url: String, key: RokuAPIKey, timeout: Duration, httpClient: HTTPClient, logger: Logger) {
        self.url = url
        self.key = key
        self.timeout = timeout
        self.httpClient = httpClient
        self.logger = logger
    }

    /// Returns a subscription's state: `validate-transaction`.
    ///
    /// - Parameters:
    ///   - transactionID: any of its transactions.
    ///   - readAt: time of the statement.
    public func transaction(_ transactionID: String, readAt: Timestamp) async -> StoreAnswer<StoreSubscription> {
        guard let transaction = transactionID.pathSegment() else { return .notAPurchase("invalid") }
        guard let key = key.text.pathSegment() else { return .misconfigured("the API key") }
        let request = OutboundRequest(
            url: "\(url)/listen/transaction-service.svc/validate-transaction/\(key)/\(transaction)",
            headers: ["Accept": "application/json"])
        let start = ContinuousClock.now
        let reply: HTTPReply
        do {
            reply = try await HTTPExchange(httpClient, by: start + timeout, atMost: Self.mostBytes)
                .send(request, route: "validate-transaction").whole()
        } catch {
            return .tryAgain(error.rawValue, retryAfter: nil)
        }
        logger.debug(
            "roku answered",
            metadata: [
                "upstream_status": .stringConvertible(reply.status),
                "duration_ms": .stringConvertible(start.duration(to: .now) / .milliseconds(1)),
            ])
        guard reply.status == 200 else {
            return RokuRefusal(status: reply.status, isPlainID: Self.isPlain(transactionID))
                .answer(retryAfter: reply.headers.retryAfter())
        }
        guard let json = JSONValue(reply.wholeBody), json.isObject else {
            return .tryAgain("unreadable", retryAfter: nil)
        }
        if let refusal = RokuRefusal(json) { return refusal.answer(retryAfter: nil) }
        guard !json.isRokuRefund else { return .notAPurchase("refund") }
        let found = StoreSubscription(roku: json, asked: transactionID, readAt: readAt)
        return found.map { .found($0) } ?? .tryAgain("unreadable", retryAfter: nil)
    }

    /// Whether the id looks like Roku's: letters, digits and dashes.
    private static func isPlain(_ id: String) -> Bool {
        id.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}

/// The API key of a developer's account. It is used only in the URL path: every way to print it gives `***`.
public struct RokuAPIKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Also used to answer unsigned notifications.
    public let text: String

    /// - Returns: nil if Roku cannot have issued it.
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
