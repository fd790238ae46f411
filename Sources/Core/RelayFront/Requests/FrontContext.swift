import HTTPTypes
package import Hummingbird
import NIOConcurrencyHelpers
import NIOCore
package import RelayCore

/// Data that a route receives with its request.
package struct FrontContext: RequestContext, Sendable {
    package var coreContext: CoreRequestContextStorage
    let channel: any Channel
    package let notes = RequestNotes()

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

// Unwrapping is safe: a name is refused only for characters outside of RFC 9110's token, and these are literals.
extension HTTPField.Name {
    static let xRequestID = HTTPField.Name("X-Request-Id")!
    static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
    static let xCustomerToken = HTTPField.Name("X-Customer-Token")!
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    static let rateLimit = HTTPField.Name("RateLimit")!
    static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy")!
    static let traceparent = HTTPField.Name("traceparent")!
    static let prefer = HTTPField.Name("Prefer")!
    static let preferenceApplied = HTTPField.Name("Preference-Applied")!
}

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
