package import HTTPTypes
package import Hummingbird
import NIOConcurrencyHelpers
package import NIOCore

/// Data that a route receives with its request.
package struct FrontContext: RequestContext, Sendable {
    package var coreContext: CoreRequestContextStorage
    package let channel: any Channel
    package let notes = RequestNotes()

    package init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

// Unwrapping is safe: a name is refused only for characters outside of RFC 9110's token, and these are literals.
extension HTTPField.Name {
    package static let xRequestID = HTTPField.Name("X-Request-Id")!
    package static let xForwardedFor = HTTPField.Name("X-Forwarded-For")!
    package static let rateLimit = HTTPField.Name("RateLimit")!
    package static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy")!
    package static let traceparent = HTTPField.Name("traceparent")!
    package static let prefer = HTTPField.Name("Prefer")!
    package static let preferenceApplied = HTTPField.Name("Preference-Applied")!
}

/// The thing that a request is about.
package struct RequestSubject: Sendable {
    /// Kind of the thing. The log line's field is named after it: `validation_id`.
    package let kind: StaticString
    package let id: any CustomStringConvertible & Sendable

    package init(_ kind: StaticString, _ id: any CustomStringConvertible & Sendable) {
        self.kind = kind
        self.id = id
    }
}

/// Data that a route reports besides its answer.
package final class RequestNotes: Sendable {
    package typealias Later = @Sendable () async throws -> Response

    private struct Notes {
        var subject: RequestSubject?
        var caller: String?
        var later: Later?
        var quotas: [RateQuota] = []
    }

    private let box = NIOLockedValueBox(Notes())

    /// What the request is about, for its log line and span.
    package var subject: RequestSubject? {
        get { box.withLockedValue { $0.subject } }
        set { box.withLockedValue { $0.subject = newValue } }
    }

    /// Id of the key that the client sent, for its log line and span.
    package var caller: String? {
        get { box.withLockedValue { $0.caller } }
        set { box.withLockedValue { $0.caller = newValue } }
    }

    /// Reports a client's state under a limit, for the answer's header fields.
    func add(_ quota: RateQuota) {
        box.withLockedValue { $0.quotas.append(quota) }
    }

    var quotas: [RateQuota] { box.withLockedValue { $0.quotas } }

    /// Replaces the returned answer by one that is made after the router has returned.
    package func answer(later: @escaping Later) {
        box.withLockedValue { $0.later = later }
    }

    /// Removes and returns the later answer, which the caller must make exactly once.
    func takeLater() -> Later? {
        box.withLockedValue { $0.later.take() }
    }
}
