public import AsyncHTTPClient
import Formats
public import Logging
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import RelayCore
public import StoreAPI

/// Client for the parts of Google's Play Developer API that the relay uses. Its methods never throw and keep their time
/// limit.
///
/// Logs only at debug level: call, status, duration.
public struct GooglePlayClient: Sendable {
    private let url: String
    private let tokens: AccessTokens
    private let timeout: Duration
    private let httpClient: HTTPClient
    private let logger: Logger

    /// A purchase takes about two KiB.
    private static let mostBytes = 262_144
    /// A thousand voided purchases take about 400 KiB.
    private static let mostListBytes = 2_097_152

    /// - Parameters:
    ///   - url: such as `https://androidpublisher.googleapis.com`, without a trailing slash.
    ///   - tokenURL: such as `https://oauth2.googleapis.com/token`.
    ///   - timeout: for one call, including the request for a token.
    ///   - httpClient: shut down by its creator.
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

    /// Returns a subscription's state: `purchases.subscriptionsv2.get`.
    ///
    /// - Parameters:
    ///   - token: the purchase token that the app received.
    ///   - packageName: the app's package, such as `com.example.app`.
    ///   - readAt: time of the statement.
    public func subscription(
        token: String, packageName: BundleID, readAt: Timestamp
    ) async -> StoreAnswer<StoreSubscription> {
        guard let package = packageName.text.pathSegment(atMost: 255), let name = token.pathSegment() else {
            return .notAPurchase("invalid")
        }
        let path = "/androidpublisher/v3/applications/\(package)/purchases/subscriptionsv2/tokens/\(name)"
        return await get(path, "subscriptionsv2") { StoreSubscription(google: $0, token: token, readAt: readAt) }
    }

    /// Returns a one-time purchase: `purchases.products.get`.
    public func product(
        _ productID: ProductID, token: String, packageName: BundleID, readAt: Timestamp
    ) async -> StoreAnswer<StoreSubscription> {
        guard let package = packageName.text.pathSegment(atMost: 255), let name = token.pathSegment(),
            let product = productID.text.pathSegment(atMost: 255)
        else { return .notAPurchase("invalid") }
        let path = "/androidpublisher/v3/applications/\(package)/purchases/products/\(product)/tokens/\(name)"
        return await get(path, "products") {
            StoreSubscription(googleProduct: $0, productID: productID, token: token, readAt: readAt)
        }
    }

    /// Acknowledges a granted purchase: `purchases.subscriptions.acknowledge`, `purchases.products.acknowledge`. Google
    /// refunds purchases that are not acknowledged within three days. It answers 400 if a purchase is already
    /// acknowledged or not paid.
    public func acknowledge(
        _ kind: AcknowledgedKind, _ productID: ProductID, token: String, packageName: BundleID
    ) async -> StoreAnswer<Bool> {
        guard let package = packageName.text.pathSegment(atMost: 255), let name = token.pathSegment(),
            let product = productID.text.pathSegment(atMost: 255)
        else { return .notAPurchase("invalid") }
        let place = kind == .subscription ? "subscriptions" : "products"
        let path =
            "/androidpublisher/v3/applications/\(package)/purchases/\(place)/\(product)/tokens/\(name):acknowledge"
        return await call(.POST, path, "acknowledge", goods: 200..<300) { _ in true }
    }

    /// Lists voided purchases: `purchases.voidedpurchases.list`, oldest first.
    ///
    /// - Parameters:
    ///   - times: when Google recorded them as voided; within the last thirty days.
    ///   - page: token from the previous page.
    public func voidedPurchases(
        in times: Range<Timestamp>, packageName: BundleID, page: String?
    ) async -> StoreAnswer<VoidedPurchases> {
        guard let package = packageName.text.pathSegment(atMost: 255) else { return .notAPurchase("invalid") }
        var query =
            "type=1&startTime=\(times.lowerBound.microseconds / 1_000)&endTime=\(times.upperBound.microseconds / 1_000)"
        if let page {
            guard let page = page.pathSegment() else { return .notAPurchase("invalid") }
            query += "&token=\(page)"
        }
        let path = "/androidpublisher/v3/applications/\(package)/purchases/voidedpurchases?\(query)"
        return await call(.GET, path, "voidedpurchases", mostBytes: Self.mostListBytes) { reply in
            JSONValue(reply.wholeBody).map { VoidedPurchases($0) }
        }
    }

    private func get(
        _ path: String, _ route: String, read: (JSONValue) -> StoreSubscription?
    ) async -> StoreAnswer<StoreSubscription> {
        await call(.GET, path, route) { JSONValue($0.wholeBody).flatMap(read) }
    }

    private func call<Value>(
        _ method: HTTPMethod, _ path: String, _ route: String, mostBytes: Int = mostBytes,
        goods: Range<Int> = 200..<201,
        read: (HTTPReply) -> Value?
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
            let headers: HTTPHeaders = ["Accept": "application/json", "Authorization": "Bearer \(token)"]
            let reply: HTTPReply
            do {
                reply = try await HTTPExchange(httpClient, by: deadline, atMost: mostBytes)
                    .send(OutboundRequest(url: url + path, method: method, headers: headers), route: route).whole()
            } catch {
                return .tryAgain(error.rawValue, retryAfter: nil)
            }
            logger.debug(
                "google play answered",
                metadata: [
                    "route": "\(route)", "upstream_status": .stringConvertible(reply.status),
                    "duration_ms": .stringConvertible(start.duration(to: .now) / .milliseconds(1)),
                ])
            // Google may have withdrawn the token before its end.
            if reply.status == 401, refused == nil {
                refused = token
                continue
            }
            guard goods.contains(reply.status) else { return GoogleRefusal.purchase(reply) }
            guard let value = read(reply) else {
                return .tryAgain("unreadable", retryAfter: nil)
            }
            return .found(value)
        }
    }
}
