import AppStoreSimulation
import Foundation
import NIOHTTP1

/// A running `serve`, which is told of what `notify` and `play` tell the relay.
struct ToldAPI: Sendable {
    private let address: String

    init(url: String) { address = url.hasSuffix("/") ? String(url.dropLast()) : url }

    /// How the subscription stands, if it is about one.
    func put(_ told: SimulatedNotification) async throws {
        guard let number = told.transaction?.originalTransactionId, let standing = SimulatedStanding(told) else {
            return
        }
        let url = "\(address)/_simulator/subscriptions/\(number)"
        try demand(await HTTPCall.send(.PUT, SimulatedJSON.encode(standing), to: url))
    }

    /// An attempt to deliver a signed notification.
    func add(_ body: Data, _ result: SendAttempt.Result) async throws {
        let url = "\(address)/_simulator/notifications?sendAttemptResult=\(result.rawValue)"
        try demand(await HTTPCall.send(.POST, body, to: url))
    }

    private func demand(_ status: Int?) throws {
        guard let status, (200...299).contains(status) else { throw Deaf(outcome: HTTPCall.outcome(status)) }
    }

    /// It does not take what it is told.
    struct Deaf: Error, CustomStringConvertible {
        let outcome: String

        var description: String { "--api: \(outcome)" }
    }
}
