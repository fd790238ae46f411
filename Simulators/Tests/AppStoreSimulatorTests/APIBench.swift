import AppStoreSimulation
import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import NIOHTTP1
import Testing

@testable import AppStoreSimulator
@testable import SimulatorKit

/// A running server of the API, and calls to it over a socket.
struct APIBench {
    static let authority = Result {
        try StoreAuthority(
            .transactions, name: "Test",
            form: StoreAuthority.Form(validity: Date() - 86_400...Date() + 31_557_600))
    }

    let url: String
    let time: ManualTime

    /// Runs one while the body does.
    static func serving(
        environment: String = "Sandbox", appAppleId: Int64? = nil, pageSize: Int = 20, keepRequests: Int = 100,
        _ body: (APIBench) async throws -> Void
    ) async throws {
        let settings = ServerSettings(
            authority: try authority.get(),
            verifier: TokenVerifier(
                key: APIToken.key.publicKey, keyId: APIToken.keyId, issuerId: APIToken.issuerId,
                bundleId: "com.example.app"),
            environment: environment, appAppleId: appAppleId, pageSize: pageSize, keepRequests: keepRequests)
        let time = ManualTime()
        let (addresses, ready) = AsyncStream.makeStream(of: String.self)
        let (calls, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let api = LockedService(
            try SimulatedServerAPI(settings: settings), now: { time.now }, afterCall: { continuation.yield() })
        let server = SimulatorServer(api, background: [TestSender(api: api, calls: calls)])
        let running = Task { try await server.run { ready.yield($0) } }
        defer { running.cancel() }
        try await body(APIBench(url: try #require(await addresses.first { _ in true }), time: time))
    }

    /// With a good token, where no other is given.
    @discardableResult
    func call(
        _ method: HTTPMethod, _ path: String, _ body: String = "", authorization: String? = nil
    ) async throws -> Answer {
        try await send(method, path, body, authorization: authorization ?? "Bearer \(APIToken(at: time.now).text())")
    }

    /// Without a token.
    @discardableResult
    func control(_ method: HTTPMethod, _ path: String, _ body: String = "") async throws -> Answer {
        try await send(method, "/_simulator/\(path)", body, authorization: nil)
    }

    /// Without a token where none is given.
    func send(
        _ method: HTTPMethod, _ path: String, _ body: String = "", authorization: String?,
        timeout: TimeAmount = .seconds(60)
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        if let authorization { request.headers.add(name: "Authorization", value: authorization) }
        if !body.isEmpty { request.body = .bytes(ByteBuffer(string: body)) }
        let response = try await HTTPClient.shared.execute(request, timeout: timeout)
        let bytes = try await response.body.collect(upTo: 16 * 1_024 * 1_024)
        return Answer(
            status: Int(response.status.code),
            headers: Dictionary(response.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first },
            body: Data(bytes.readableBytesView))
    }

    func statuses(_ transactionId: String, _ query: String = "") async throws -> Answer {
        try await call(.GET, "/inApps/v1/subscriptions/\(transactionId)\(query)")
    }

    /// Of a month around now, where nothing else is said.
    func history(_ more: String = "", token: String? = nil) async throws -> Answer {
        let query = token.map { "?paginationToken=\($0)" } ?? ""
        let dates = #""startDate":\#(time.milliseconds(-1_296_000)),"endDate":\#(time.milliseconds(1_296_000))"#
        return try await call(.POST, "/inApps/v1/notifications/history\(query)", "{\(dates)\(more)}")
    }

    /// Puts a subscription that ends after so many seconds.
    @discardableResult
    func put(_ number: String, endsIn seconds: TimeInterval = 100, _ more: String = "") async throws -> Answer {
        let body = """
            {"productId":"com.example.app.monthly","bundleId":"com.example.app",\
            "expiresDate":\(time.milliseconds(seconds))\(more)}
            """
        return try await control(.PUT, "subscriptions/\(number)", body)
    }

    /// A notification, signed so many seconds from now and known by a short name.
    func notification(
        _ name: Int, at seconds: TimeInterval = 0, type: String = "DID_RENEW", about number: String? = "1",
        environment: String = "Sandbox", bundleId: String = "com.example.app"
    ) throws -> SimulatedNotification {
        let now = time.now + seconds
        return SimulatedNotification(
            notificationType: type, subtype: type == "EXPIRED" ? "VOLUNTARY" : nil, notificationUUID: Self.uuid(name),
            environment: environment, bundleId: bundleId, status: .active,
            transaction: number.map {
                SimulatedTransaction(
                    bundleId: bundleId, environment: environment, productId: "com.example.app.monthly",
                    transactionId: "\($0)\(name)", originalTransactionId: $0, purchaseDate: now, expiresDate: now + 100)
            }, signedDate: now)
    }

    @discardableResult
    func add(_ told: SimulatedNotification, _ query: String = "") async throws -> Answer {
        let body = String(decoding: try Self.authority.get().sign(told), as: UTF8.self)
        return try await control(.POST, "notifications\(query)", body)
    }

    static func uuid(_ name: Int) -> String { "00000000-0000-4000-8000-00000000000\(name)" }
}
