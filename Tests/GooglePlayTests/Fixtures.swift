import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import OutboundHTTP
import ReceiverSupport
import RelayCore
import StoreAPI
import StoreTestSupport

@testable import GooglePlay

let readAt = Timestamp(seconds: 1_790_000_000)

/// One key for all tests, since keys are slow to make.
enum Key {
    static let file = FileManager.default.temporaryDirectory.appendingPathComponent("google-\(UUID().uuidString).json")

    static let json: Data? = {
        guard (try? StoreProcess.run(["google", "create-service-account", "--out", file.path])) == 0 else { return nil }
        return FileManager.default.contents(atPath: file.path)
    }()

    static func account() throws -> ServiceAccount { try ServiceAccount(json: json ?? Data()) }
}

/// Runs `test` with the simulated Google Play as a process, and a client of it.
func withGoogle<Answer>(
    tokenLife: Int = 3_599, timeout: Duration = .seconds(20), log: CapturedLog = CapturedLog(),
    _ test: (StoreProcess, GooglePlayClient) async throws -> Answer
) async throws -> Answer {
    let account = try Key.account()
    let process = try await StoreProcess.start(
        ["google", "--service-account", Key.file.path, "--token-life", "\(tokenLife)"])
    defer { process.end() }
    return try await withStoreClient { http in
        let client = GooglePlayClient(
            url: process.url, tokenURL: process.url + "/token", account: account, timeout: timeout, httpClient: http,
            logger: log.logger)
        return try await test(process, client)
    }
}

/// Runs `test` with a client whose tokens come from a permissive server, and whose answers come from `respond`.
func withAnswers<Answer: Sendable>(
    log: CapturedLog = CapturedLog(), timeout: Duration = .seconds(20),
    respond: @escaping @Sendable (Received) -> Response,
    _ test: @escaping @Sendable (GooglePlayClient) async throws -> Answer
) async throws -> (Answer, [Received]) {
    let account = try Key.account()
    return try await withHTTPServer { request in
        request.path == "/token" ? json(#"{"access_token":"ya29.good","expires_in":3599}"#) : respond(request)
    } test: { url in
        try await withStoreClient { http in
            try await test(
                GooglePlayClient(
                    url: url, tokenURL: url + "/token", account: account, timeout: timeout, httpClient: http,
                    logger: log.logger))
        }
    }
}

/// An answer in the documented form of `purchases.subscriptionsv2.get`, with made-up values.
func subscription(
    state: String = "ACTIVE", plan: String = #""autoRenewingPlan":{"autoRenewEnabled":true}"#, more: String = "",
    item: String = "", start: String? = "2026-08-22T10:00:00.123456789Z", expiry: String = "2026-10-22T10:00:00Z"
) -> String {
    """
    {"kind":"androidpublisher#subscriptionPurchaseV2","regionCode":"US",
    \(start.map { #""startTime":"\#($0)","# } ?? "")
    "subscriptionState":"SUBSCRIPTION_STATE_\(state)","latestOrderId":"GPA.1111-2222-3333-44444..1",
    "acknowledgementState":"ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
    "externalAccountIdentifiers":{"obfuscatedExternalAccountId":"user-7"},\(more)
    "lineItems":[{"productId":"gold","expiryTime":"\(expiry)",
    "latestSuccessfulOrderId":"GPA.1111-2222-3333-44444..0",\(item)
    "offerDetails":{"basePlanId":"monthly","offerId":"welcome"},\(plan)}]}
    """
}

func read(_ text: String) throws -> StoreSubscription {
    guard let json = JSONValue(.init(string: text)),
        let purchase = StoreSubscription(google: json, token: "token-2", readAt: readAt)
    else { throw StoreProcess.Fault.notReady }
    return purchase
}

extension GooglePlayClient {
    func subscription(token: String, packageName: BundleID) async -> StoreAnswer<StoreSubscription> {
        await subscription(token: token, packageName: packageName, readAt: readAt)
    }

    func product(
        _ productID: ProductID, token: String, packageName: BundleID
    ) async -> StoreAnswer<StoreSubscription> {
        await product(productID, token: token, packageName: packageName, readAt: readAt)
    }
}
