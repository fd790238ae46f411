import AppStoreSimulation
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SimulatorKit

/// A client of a running `serve`, which records what `notify` and `play` post to the relay.
struct SimulatedAPIClient: Sendable {
    private let address: String

    init(url: String) { address = url.hasSuffix("/") ? String(url.dropLast()) : url }

    /// Reports the subscription's state, if the notification concerns one.
    func put(_ notification: SimulatedNotification) async throws {
        guard let number = notification.transaction?.originalTransactionId,
            let update = SubscriptionUpdate(notification)
        else {
            return
        }
        try await send(.PUT, JSONBody.encode(update), to: "subscriptions/\(number)")
    }

    /// Reports an attempt to deliver a signed notification.
    func add(_ body: Data, _ result: SendAttempt.Result) async throws {
        try await send(.POST, body, to: "notifications?sendAttemptResult=\(result.rawValue)")
    }

    private func send(_ method: HTTPMethod, _ body: Data, to path: String) async throws {
        let url = "\(address)/_simulator/\(path)"
        let status = await HTTPCall.send(method, body, to: url, timeout: .seconds(5))
        guard let status, (200...299).contains(status) else { throw Refused(outcome: HTTPCall.outcome(status)) }
    }

    /// The API did not accept a call.
    struct Refused: Error, CustomStringConvertible {
        let outcome: String

        var description: String { "--api: \(outcome)" }
    }
}

/// Sends JSON once.
enum HTTPCall {
    /// If no server listens, the call fails at once.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration.singletonConfiguration
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// - Returns: the status; nil without an answer.
    static func send(
        _ method: HTTPMethod, _ body: Data, to url: String, timeout: TimeAmount = .seconds(30)
    ) async -> Int? {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: body))
        guard let response = try? await client.execute(request, timeout: timeout) else { return nil }
        return Int(response.status.code)
    }

    static func outcome(_ status: Int?) -> String { status.map { "HTTP \($0)" } ?? "no answer" }
}
