public import AsyncHTTPClient
import Formats
public import Logging
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore
public import StoreAPI

/// Google's Play Developer API, as far as the relay asks it. Nothing throws: every call ends in an answer, and within its time.
///
/// Logs at debug level alone: which call, status, time.
public struct GooglePlayClient: Sendable {
    private let url: String
    private let tokens: AccessTokens
    private let timeout: Duration
    private let httpClient: HTTPClient
    private let logger: Logger

    /// A purchase takes some two KiB.
    private static let mostBytes = 262_144

    /// - Parameters:
    ///   - url: such as `https://androidpublisher.googleapis.com`, without a trailing slash.
    ///   - tokenURL: such as `https://oauth2.googleapis.com/token`.
    ///   - timeout: for one call, the token that it may need first included.
    ///   - httpClient: shut down by who made it.
    public init(
        url: String, tokenURL: String, account: ServiceAccount, timeout: Duration, httpClient: HTTPClient,
        logger: Logger
    ) {
        self.url = url
        tokens = AccessTokens(account: account, url: tokenURL, httpClient: httpClient)
        self.timeout = timeout
        self.httpClient = httpClient
        self.logger = logger
    }

    /// Asks how a subscription stands: `purchases.subscriptionsv2.get`.
    ///
    /// - Parameters:
    ///   - token: the purchase token that the app was given.
    ///   - packageName: the app's, such as `com.example.app`.
    public func subscription(token: String, packageName: BundleID) async -> StoreAnswer<SubscriptionPurchaseV2> {
        guard let package = packageName.text.pathSegment(atMost: 255), let name = token.pathSegment() else {
            return .notAPurchase("invalid")
        }
        let path = "/androidpublisher/v3/applications/\(package)/purchases/subscriptionsv2/tokens/\(name)"
        return await get(path, "subscriptionsv2") { SubscriptionPurchaseV2($0, token: token) }
    }

    /// Asks about what was bought once: `purchases.products.get`.
    public func product(
        _ productID: ProductID, token: String, packageName: BundleID
    ) async -> StoreAnswer<ProductPurchase> {
        guard let package = packageName.text.pathSegment(atMost: 255), let name = token.pathSegment(),
            let product = productID.text.pathSegment(atMost: 255)
        else { return .notAPurchase("invalid") }
        let path = "/androidpublisher/v3/applications/\(package)/purchases/products/\(product)/tokens/\(name)"
        return await get(path, "products") { ProductPurchase($0, productID: productID, token: token) }
    }

    private func get<Value>(
        _ path: String, _ route: String, read: (JSONValue) -> Value?
    ) async -> StoreAnswer<Value> {
        let start = ContinuousClock.now
        let deadline = start + timeout
        var refused: String?
        while true {
            let token: String
            switch await tokens.token(insteadOf: refused, by: deadline) {
            case .found(let found): token = found
            case .notAPurchase(let word), .misconfigured(let word): return .misconfigured(word)
            case .tryAgain(let word, let retryAfter): return .tryAgain(word, retryAfter: retryAfter)
            }
            let reply: HTTPReply
            do {
                reply = try await HTTPExchange(httpClient, by: deadline, atMost: Self.mostBytes)
                    .send(request(path, token), route: route).whole()
            } catch {
                return .tryAgain(error.rawValue, retryAfter: nil)
            }
            logger.debug(
                "google play answered",
                metadata: [
                    "route": "\(route)", "upstream_status": .stringConvertible(reply.status),
                    "duration_ms": .stringConvertible(start.duration(to: .now) / .milliseconds(1)),
                ])
            // It may have been withdrawn before its end.
            if reply.status == 401, refused == nil {
                refused = token
                continue
            }
            guard reply.status == 200 else { return GoogleRefusal.purchase(reply) }
            guard let value = JSONValue(reply.wholeBody).flatMap(read) else {
                return .tryAgain("unreadable", retryAfter: nil)
            }
            return .found(value)
        }
    }

    private func request(_ path: String, _ token: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url + path)
        request.headers = ["Accept": "application/json", "Authorization": "Bearer \(token)"]
        return request
    }
}
