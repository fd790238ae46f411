import ConsolePages
import Formats
import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

/// In whose form a client expects its errors. Told by the path alone, so that what never reached a route is answered rightly too.
enum ErrorDialect: Sendable {
    /// `application/problem+json` (RFC 9457).
    case problem
    /// `{"ok":false,"status":401,"code":"InvalidCredentials","message":"Error: …"}` (Fovea).
    case fovea
    /// `{"ok":false,"status":400,"code":6778001,"message":"…"}`, with HTTP 200 (Fovea's validator): its clients look at nothing else.
    /// A method that it does not take is 405.
    case validator
    /// `{"Message":"…"}` (billwerk).
    case billwerk
    /// `{"error":"invalid_client","error_description":"…"}` (RFC 6749 section 5.2).
    case oauth
    /// A page.
    case console

    /// - Parameters:
    ///   - path: folded, where case does not count in it (``FoldedPath``).
    ///   - hasConsole: it came to the ops front.
    init(path: String, hasConsole: Bool = false) {
        let bytes = path.utf8
        if hasConsole, path == "/" || bytes.starts(with: "/console".utf8) {
            self = .console
        } else if bytes.starts(with: "/v2/".utf8) {
            self = .fovea
        } else if bytes.starts(with: "/api/v1".utf8) {
            self = .billwerk
        } else if bytes.starts(with: "/oauth/token".utf8) {
            self = .oauth
        } else {
            self = path == "/v1/validate" || path == "/v1/validate/" ? .validator : .problem
        }
    }

    /// - Parameter console: its pages, where there are any.
    func response(_ problem: Problem, console: ConsolePages? = nil) -> Response {
        switch self {
        case .problem: problem.response
        case .fovea: problem.foveaResponse
        case .validator: problem.validatorResponse
        case .billwerk: problem.billwerkResponse
        case .oauth: problem.oauthResponse
        case .console: console.map { ConsoleDesk.problem(problem, $0) } ?? problem.response
        }
    }
}

extension Problem {
    fileprivate var foveaResponse: Response {
        var writer = JSONWriter(capacity: 160)
        writer.beginObject()
        writer.member("ok", false)
        writer.member("status", status.code)
        writer.member("code", code.foveaCode)
        writer.member("message", "Error: \(message)")
        writer.endObject()
        var headers = headers
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        if headers[.wwwAuthenticate] != nil { headers[.wwwAuthenticate] = "Basic realm=\"receipt-relay\"" }
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: writer.buffer))
    }

    /// For forms that have one line for everything.
    var message: String {
        errors.isEmpty
            ? detail : errors.map { "\($0.field.isEmpty ? "the body" : $0.field) \($0.detail)" }.joined(separator: "; ")
    }
}

extension ProblemCode {
    /// One of a few, as readers of that form tell errors apart.
    fileprivate var foveaCode: String {
        switch status {
        case .unauthorized: "InvalidCredentials"
        case .forbidden: "Forbidden"
        case .notFound: "NotFound"
        case .methodNotAllowed: "MethodNotAllowed"
        case .contentTooLarge: "PayloadTooLarge"
        case .tooManyRequests: "TooManyRequests"
        case .serviceUnavailable: "ServiceUnavailable"
        case .internalServerError: "InternalError"
        default: "InvalidPayload"
        }
    }
}
