import Formats
package import HTTPTypes
package import Hummingbird
import NIOCore

/// An error answer: `application/problem+json` of RFC 9457, with `code` and, for wrong fields, `errors`.
package struct Problem: HTTPResponseError, Sendable {
    static let contentType = "application/problem+json"

    package let code: ProblemCode
    /// What is wrong in this case, without internals and without the request's content.
    package let detail: String
    package let errors: [FieldError]
    package private(set) var headers: HTTPFields

    package var status: HTTPResponse.Status { code.status }

    package init(_ code: ProblemCode, _ detail: String, errors: [FieldError] = [], headers: HTTPFields = [:]) {
        self.code = code
        self.detail = detail
        self.errors = errors
        self.headers = headers
        if let seconds = code.retryAfterSeconds { self.headers[.retryAfter] = String(seconds) }
        // RFC 9110 section 15.5.2: a 401 names its challenge.
        if code.status == .unauthorized { self.headers[.wwwAuthenticate] = "Bearer realm=\"receipt-relay\"" }
    }

    /// - Parameter retryAfter: seconds, if more is known than the code's default.
    package init(_ code: ProblemCode, _ detail: String, retryAfter: Int) {
        self.init(code, detail)
        headers[.retryAfter] = String(retryAfter)
    }

    package static func invalidFields(_ errors: [FieldError]) -> Problem {
        Problem(.invalidFields, "see errors: it names each wrong field", errors: errors)
    }

    /// The problem with `Connection: close`, for a request whose rest is not read.
    func closingConnection() -> Problem {
        var problem = self
        problem.headers[.connection] = "close"
        return problem
    }

    var body: ByteBuffer {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.field("type", "urn:receipt-relay:problem:\(code.rawValue)")
        writer.field("title", code.title)
        writer.field("status", status.code)
        writer.field("detail", detail)
        writer.field("code", code.rawValue)
        if !errors.isEmpty { writer.array("errors", errors) }
        writer.endObject()
        return writer.buffer
    }

    var response: Response {
        var headers = headers
        headers[.contentType] = Self.contentType
        headers[.cacheControl] = "no-store"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: body))
    }

    package func response(from request: Request, context: some RequestContext) throws -> Response {
        response
    }
}

extension Problem {
    /// The problem for an error that the server itself throws, and for every error without a description of its own. It contains
    /// no internals.
    package init(ofServer error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case is NIOTooManyBytesError:
            self = Problem(.bodyTooLarge, "the body is larger than this service takes").closingConnection()
        case is RequestTimedOut:
            self = Problem(.requestTimeout, "the body did not arrive in time").closingConnection()
        case is CancellationError:
            self.init(.overloaded, "this copy of the service is stopping; send the same request again")
        case let error as any HTTPResponseError where error.status.kind == .clientError:
            self.init(.badRequest, "the request is not one that this service understands")
        default:
            self.init(.internalError, "the cause was logged under the request id")
        }
    }
}

extension Problem: Equatable {
    package static func == (left: Problem, right: Problem) -> Bool { left.code == right.code }
}

extension Problem: CustomStringConvertible {
    package var description: String { "Problem(\(code.rawValue))" }
}
