package import HTTPTypes

/// Stable codes of all errors that clients can get. Clients' code may rely on each. Each target adds the codes that it throws.
package struct ProblemCode: Sendable, Equatable {
    package let rawValue: String
    package let status: HTTPResponse.Status
    /// RFC 9457 section 3.1.3: the title never differs between occurrences.
    package let title: String
    /// Seconds after which the same request may succeed; nil if a retry alone cannot help.
    package let retryAfterSeconds: Int?

    package init(_ rawValue: String, _ status: HTTPResponse.Status, _ title: String, retryAfter seconds: Int? = nil) {
        self.rawValue = rawValue
        self.status = status
        self.title = title
        retryAfterSeconds = seconds
    }

    package static func == (one: ProblemCode, other: ProblemCode) -> Bool { one.rawValue == other.rawValue }
}

extension ProblemCode {
    package static let badRequest = ProblemCode("bad_request", .badRequest, "The request could not be read")
    package static let notJSON = ProblemCode("not_json", .badRequest, "The body is not JSON")
    package static let notFound = ProblemCode("not_found", .notFound, "Nothing is here")
    package static let methodNotAllowed = ProblemCode(
        "method_not_allowed", .methodNotAllowed, "The method is not allowed here")
    package static let requestTimeout = ProblemCode(
        "request_timeout", .requestTimeout, "The request took too long to arrive")
    package static let bodyTooLarge = ProblemCode("body_too_large", .contentTooLarge, "The body is too large")
    package static let unsupportedMediaType = ProblemCode(
        "unsupported_media_type", .unsupportedMediaType, "The body's media type is not supported")
    package static let invalidFields = ProblemCode("invalid_fields", .unprocessableContent, "Some fields are wrong")
    package static let headersTooLarge = ProblemCode(
        "headers_too_large", .requestHeaderFieldsTooLarge, "The header fields are too large")
    package static let internalError = ProblemCode("internal", .internalServerError, "Something went wrong here")
    package static let overloaded = ProblemCode(
        "overloaded", .serviceUnavailable, "Too much is waiting already", retryAfter: 1)
    package static let rateLimited = ProblemCode("rate_limited", .tooManyRequests, "Too many requests", retryAfter: 1)
}
