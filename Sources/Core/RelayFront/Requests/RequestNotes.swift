import Hummingbird
import NIOConcurrencyHelpers
package import RelayCore

/// Data that a route reports besides its answer.
package final class RequestNotes: Sendable {
    typealias Later = @Sendable () async throws -> Response

    private struct Notes {
        var validation: ValidationID?
        var keyID: APIKeyID?
        var later: Later?
        var quotas: [RateQuota] = []
    }

    private let box = NIOLockedValueBox(Notes())

    /// Validation for the log, as is ``keyID``.
    package var validation: ValidationID? {
        get { box.withLockedValue { $0.validation } }
        set { box.withLockedValue { $0.validation = newValue } }
    }

    package var keyID: APIKeyID? {
        get { box.withLockedValue { $0.keyID } }
        set { box.withLockedValue { $0.keyID = newValue } }
    }

    /// Reports a client's state under a limit, for the answer's header fields.
    func add(_ quota: RateQuota) {
        box.withLockedValue { $0.quotas.append(quota) }
    }

    var quotas: [RateQuota] { box.withLockedValue { $0.quotas } }

    /// Replaces the returned answer by one that is made after the router has returned.
    func answer(later: @escaping Later) {
        box.withLockedValue { $0.later = later }
    }

    /// Removes and returns the later answer, which the caller must make exactly once.
    func takeLater() -> Later? {
        box.withLockedValue { $0.later.take() }
    }
}
