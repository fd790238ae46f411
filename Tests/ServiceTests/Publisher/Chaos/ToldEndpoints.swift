import Foundation
import Hummingbird
import NIOConcurrencyHelpers
import ReceiverSupport
import Testing

/// Two endpoints of one publisher, and the messages they received, in order. One is steady. The other fails, hangs and
/// works by turns until it is healed.
final class ToldEndpoints: Sendable {
    struct Arrival: Sendable {
        var at: Date
        /// `/steady` or `/moody`.
        var path: String
        var id: String
        var body: String
        var isSigned: Bool
        /// Time in the signed header, in whole seconds.
        var sentAt: Date
        /// Whether the relay had given up this try before it was handled here, and so may have sent a newer message. A
        /// process with little CPU time reads its socket that late.
        var isLate: Bool { at.timeIntervalSince(sentAt) > ToldEndpoints.timeout + 1 }
        var json: JSON { (try? JSON(data: Data(body.utf8))) ?? .null }
    }

    static let steady = "/steady"
    static let moody = "/moody"
    /// The relay's timeout in seconds. Calls that hang take longer.
    static let timeout = 1.5
    private static let secret = Data("a secret of twenty-four b".utf8)
    /// Length of each behaviour of the moody endpoint.
    private static let turn = Duration.milliseconds(900)

    private struct State {
        var arrivals: [Arrival] = []
        var isHealed = false
    }

    private let state = NIOLockedValueBox(State())
    private let began = ContinuousClock.now

    /// Runs a scenario with new endpoints, and records its violations with the seed.
    static func tryOut(_ game: @escaping @Sendable (ToldEndpoints, _ port: Int, ChaosSeed) async throws -> [String])
        async throws
    {
        let seed = try ChaosSeed()
        let endpoints = ToldEndpoints()
        try await withReceiver {
            await endpoints.answer($0)
        } _: { port, _ in
            do {
                let violations = try await game(endpoints, port, seed)
                for violation in violations.prefix(20) { Issue.record("\(seed): \(violation)") }
                #expect(violations.isEmpty, "\(seed): \(violations.count) in all")
            } catch {
                Issue.record("\(seed): \(error)")
            }
        }
    }

    /// Settings of every copy.
    static func settings(_ port: Int, _ paths: String...) -> [String: String] {
        [
            "RELAY_WEBHOOK_URLS": paths.map { "http://127.0.0.1:\(port)\($0)" }.joined(separator: ","),
            "RELAY_WEBHOOK_SECRETS": "whsec_\(secret.base64EncodedString())",
            "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8", "RELAY_WEBHOOK_TIMEOUT_SECONDS": "\(timeout)",
            "RELAY_WEBHOOK_RETRY_SECONDS": Array(repeating: "0.5", count: 30).joined(separator: ","),
        ].filter { !$0.value.isEmpty }
    }

    var arrivals: [Arrival] { state.withLockedValue { $0.arrivals } }

    /// Makes both endpoints work from now on.
    func heal() { state.withLockedValue { $0.isHealed = true } }

    func answer(_ received: Received) async -> Response {
        let arrival = Arrival(
            at: Date(), path: received.path, id: received.headers["webhook-id"] ?? "", body: received.body,
            isSigned: received.isSigned(by: Self.secret),
            sentAt: Date(timeIntervalSince1970: received.headers["webhook-timestamp"].flatMap(Double.init) ?? 0))
        let isWell = state.withLockedValue { state in
            state.arrivals.append(arrival)
            return state.isHealed || received.path != Self.moody
        }
        guard !isWell else { return Response(status: .ok) }
        switch Int((ContinuousClock.now - began) / Self.turn) % 3 {
        case 0: return Response(status: .serviceUnavailable)
        case 1:
            try? await Task.sleep(for: .seconds(Self.timeout + 1))
            return Response(status: .ok)
        default: return Response(status: .ok)
        }
    }
}
