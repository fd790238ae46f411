import Hummingbird
import NIOConcurrencyHelpers
import RelayCore

/// What a route tells of its request beside its answer.
final class RequestNotes: Sendable {
    typealias Later = @Sendable () async throws -> Response

    private struct Notes {
        var validation: ValidationID?
        var keyID: APIKeyID?
        var later: Later?
        var standings: [RateStanding] = []
    }

    private let box = NIOLockedValueBox(Notes())

    /// For the log, as ``keyID`` is.
    var validation: ValidationID? {
        get { box.withLockedValue { $0.validation } }
        set { box.withLockedValue { $0.validation = newValue } }
    }

    var keyID: APIKeyID? {
        get { box.withLockedValue { $0.keyID } }
        set { box.withLockedValue { $0.keyID = newValue } }
    }

    /// How the client stands by a limit: its answer tells.
    func stands(_ standing: RateStanding) {
        box.withLockedValue { $0.standings.append(standing) }
    }

    var standings: [RateStanding] { box.withLockedValue { $0.standings } }

    /// Gives the answer in place of what the route returned, once the way through the router is over.
    func answer(later: @escaping Later) {
        box.withLockedValue { $0.later = later }
    }

    /// To be called, once and always, by who takes it.
    func takeLater() -> Later? {
        box.withLockedValue { $0.later.take() }
    }
}
