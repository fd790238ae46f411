import HTTPTypes
package import Hummingbird
import NIOCore

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
