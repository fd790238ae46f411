import Foundation
import NIOConcurrencyHelpers

/// The simulated API behind its one lock, with the clock that dates what it signs.
final class ServerAPI: Sendable {
    /// Of a body, in bytes: several times the longest notification.
    static let bodyLimit = 128 * 1_024

    private let now: @Sendable () -> Date
    private let api: NIOLockedValueBox<SimulatedServerAPI>

    init(settings: ServerSettings, now: @escaping @Sendable () -> Date = { Date() }) {
        self.now = now
        api = NIOLockedValueBox(SimulatedServerAPI(settings: settings))
    }

    func begin(_ call: APICall) -> Verdict { api.withLockedValue { $0.begin(call, at: now()) } }

    func control(_ call: APICall) -> Reply { api.withLockedValue { $0.control(call, at: now()) } }
}
