public import AsyncHTTPClient
import Formats
import Foundation
public import Logging
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import OutboundHTTP
public import RelayCore

/// Client for the parts of Apple's App Store Server API that the relay uses. Its methods never throw and keep their
/// time limit.
public struct AppStoreServerClient: Sendable {
    public enum Environment: String, Sendable, CaseIterable {
        case production = "Production"
        case sandbox = "Sandbox"
    }

    private let urls: [Environment: String]
    private let credentials: AppStoreCredentials
    private let timeout: Duration
    private let httpClient: HTTPClient
    private let logger: Logger

    /// A page has twenty notifications of about ten KiB each.
    private static let maxResponseBytes = 4 << 20

    /// - Parameter urls: without a trailing slash.
    public init(
        urls: [Environment: String], credentials: AppStoreCredentials, timeout: Duration, httpClient: HTTPClient,
        logger: Logger
    ) {
        self.urls = urls
        self.credentials = credentials
        self.timeout = timeout
        self.httpClient = httpClient
        self.logger = logger
    }

    /// Returns the status of all subscriptions of a transaction's customer.
    ///
    /// - Parameter transactionID: any transaction of the subscription.
    public func statuses(
        of transactionID: TransactionID, in environment: Environment, bundleID: BundleID
    ) async -> AppStoreAnswer<[SubscriptionStatusItem]> {
        guard !transactionID.isEmpty, transactionID.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return .unknown
        }
        let path = "/inApps/v1/subscriptions/\(transactionID)"
        return await call(.GET, path, in: environment, bundleID: bundleID, body: nil) { (answer: Statuses) in
            answer.data.flatMap(\.lastTransactions)
        }
    }

    /// Returns notifications that the relay did not receive.
    ///
    /// - Parameters:
    ///   - range: when they were signed, in milliseconds since 1970; at most the last 180 days.
    ///   - page: the token from the previous page.
    public func missedNotifications(
        in range: Range<Int64>, of environment: Environment, bundleID: BundleID, page: String?
    ) async -> AppStoreAnswer<NotificationHistoryPage> {
        struct Request: Encodable {
            let startDate: Int64
            let endDate: Int64
            let onlyFailures = true
        }
        let request = Request(startDate: range.lowerBound, endDate: range.upperBound)
        guard let body = try? JSONEncoder().encode(request) else { return .misconfigured("the request") }
        var path = "/inApps/v1/notifications/history"
        if let page { path += "?paginationToken=\(page.percentEncoded)" }
        return await call(.POST, path, in: environment, bundleID: bundleID, body: body) { (answer: History) in
            NotificationHistoryPage(
                signedPayloads: answer.notificationHistory.map(\.signedPayload),
                next: answer.hasMore == true ? answer.paginationToken : nil)
        }
    }

    struct Statuses: Decodable {
        struct Group: Decodable { let lastTransactions: [SubscriptionStatusItem] }
        let data: [Group]
    }

    struct History: Decodable {
        struct Item: Decodable { let signedPayload: String }
        let notificationHistory: [Item]
        let hasMore: Bool?
        let paginationToken: String?
    }

    func call<Answer: Decodable, Value: Sendable>(
        _ method: HTTPMethod, _ path: String, in environment: Environment, bundleID: BundleID, body: Data?,
        value: (Answer) -> Value
    ) async -> AppStoreAnswer<Value> {
        let reply: HTTPReply
        switch await send(method, path, in: environment, bundleID: bundleID, body: body) {
        case .value(let answered): reply = answered
        case .unknown: return .unknown
        case .misconfigured(let why): return .misconfigured(why)
        case .tryAgain(let why, let pause): return .tryAgain(why, retryAfter: pause)
        }
        guard reply.status == 200 else { return AppStoreRefusal.answer(reply) }
        guard let body = reply.wholeBody,
            let answer = try? JSONDecoder().decode(Answer.self, from: Data(buffer: body))
        else { return .tryAgain("unreadable", retryAfter: nil) }
        return .value(value(answer))
    }

    /// - Returns: the reply with any status.
    func send(
        _ method: HTTPMethod, _ path: String, in environment: Environment, bundleID: BundleID, body: Data?
    ) async -> AppStoreAnswer<HTTPReply> {
        guard let url = urls[environment] else { return .misconfigured("no address of \(environment.rawValue)") }
        guard let token = try? await credentials.token(for: bundleID, at: Date()) else {
            return .misconfigured("the key cannot sign")
        }
        var headers: HTTPHeaders = ["Accept": "application/json", "Authorization": "Bearer \(token)"]
        if body != nil { headers.add(name: "Content-Type", value: "application/json") }
        let request = OutboundRequest(
            url: url + path, method: method, headers: headers, body: body.map { ByteBuffer(data: $0) })
        let start = ContinuousClock.now
        let reply: HTTPReply
        // Further parts are transaction ids and page tokens, which do not belong in a route.
        let route = "/" + path.split(separator: "/").prefix(3).joined(separator: "/")
        do {
            reply = try await HTTPExchange(httpClient, by: start + timeout, atMost: Self.maxResponseBytes)
                .send(request, route: route).whole()
        } catch {
            return .tryAgain(error.rawValue, retryAfter: nil)
        }
        logger.debug(
            "the app store answered",
            metadata: [
                "upstream_status": .stringConvertible(reply.status),
                "duration_ms": .stringConvertible(start.duration(to: .now) / .milliseconds(1)),
            ])
        return .value(reply)
    }
}
