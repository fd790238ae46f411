import ConsolePages
import Formats
import Hummingbird

/// The error format that a client expects. The path alone decides, so that requests without a route get the right
/// format too.
enum ErrorDialect: Sendable {
    /// `application/problem+json` (RFC 9457).
    case problem
    /// `{"ok":false,"status":401,"code":"InvalidCredentials","message":"Error: …"}` (Fovea).
    case fovea
    /// `{"ok":false,"status":400,"code":6778001,"message":"…"}`, with HTTP 200 (Fovea's validator), since its clients
    /// read only the body. An unsupported method is 405.
    case validator
    /// `{"Message":"…"}` (billwerk).
    case billwerk
    /// `{"error":"invalid_client","error_description":"…"}` (RFC 6749 section 5.2).
    case oauth
    /// An HTML page.
    case console

    /// - Parameters:
    ///   - path: folded if its case does not count (``FoldedPath``).
    ///   - hasConsole: whether the request came to the ops front.
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

    /// - Parameter console: the console's pages, if there are any.
    func response(_ problem: Problem, console: ConsolePages? = nil) -> Response {
        switch self {
        case .problem: problem.response
        case .fovea: problem.foveaResponse
        case .validator: problem.validatorResponse
        case .billwerk: problem.billwerkResponse
        case .oauth: problem.oauthResponse
        case .console: console.map { ConsoleContext.problem(problem, $0) } ?? problem.response
        }
    }
}

extension Problem {
    /// Writes an answer in a client-specific format.
    ///
    /// - Parameter challenge: challenge of a 401, if it is not Bearer.
    func answer(challenge: String? = nil, _ write: (inout JSONWriter) -> Void) -> Response {
        var response = Response.json(status, write)
        for field in headers { response.headers[field.name] = field.value }
        if let challenge, headers[.wwwAuthenticate] != nil { response.headers[.wwwAuthenticate] = challenge }
        return response
    }

    private static let basic = "Basic realm=\"receipt-relay\""

    fileprivate var foveaResponse: Response {
        answer(challenge: Self.basic) { writer in
            writer.beginObject()
            writer.member("ok", false)
            writer.member("status", status.code)
            writer.member("code", code.foveaCode)
            writer.member("message", "Error: \(message)")
            writer.endObject()
        }
    }

    /// billwerk's clients read only this member.
    fileprivate var billwerkResponse: Response {
        answer { writer in
            writer.beginObject()
            writer.member("Message", message)
            writer.endObject()
        }
    }

    /// RFC 6749 has one error, with 400, for everything that is wrong with a request.
    fileprivate var oauthResponse: Response {
        let error =
            switch code {
            case .unsupportedGrant: "unsupported_grant_type"
            case _ where status == .unauthorized: "invalid_client"
            case _ where status == .serviceUnavailable: "temporarily_unavailable"
            case _ where status.kind == .serverError: "server_error"
            default: "invalid_request"
            }
        return answer(challenge: Self.basic) { writer in
            writer.beginObject()
            writer.member("error", error)
            writer.member("error_description", message)
            writer.endObject()
        }
    }

    /// Text for formats that have one line for all errors.
    var message: String {
        errors.isEmpty
            ? detail : errors.map { "\($0.field.isEmpty ? "the body" : $0.field) \($0.detail)" }.joined(separator: "; ")
    }
}

extension ProblemCode {
    /// One of the few codes that Fovea's clients distinguish.
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

/// Numeric codes of the plugin for a failed validation (cordova-plugin-purchase, "validation error codes").
enum ValidatorCode: Int {
    case invalidPayload = 6_778_001
    /// The store could not be asked; the client may retry later.
    case connectionFailed = 6_778_002
    /// The purchase ended, and the store has no details. If it has, the answer is an expired purchase instead.
    case purchaseExpired = 6_778_003
    case internalError = 6_778_005

    init(_ problem: Problem) {
        switch problem.code {
        // Not processed; the client may retry later.
        case .storeUnavailable, .rateLimited, .requestTimeout: self = .connectionFailed
        case .purchaseEnded: self = .purchaseExpired
        default: self = problem.status.kind == .serverError ? .internalError : .invalidPayload
        }
    }
}

extension Problem {
    var validatorResponse: Response {
        let number = ValidatorCode(self)
        var writer = JSONWriter(capacity: 240)
        writer.beginObject()
        writer.member("ok", false)
        writer.member("route", "/v1/validate")
        writer.member("status", status.code)
        writer.member("code", number.rawValue)
        writer.member("message", message)
        writer.name("data")
        writer.beginObject()
        writer.member("code", number.rawValue)
        writer.name("error")
        writer.beginObject()
        writer.member("message", message)
        writer.endObject()
        writer.endObject()
        writer.endObject()
        var headers = ValidateRoutes.headers
        if let after = self.headers[.retryAfter] { headers[.retryAfter] = after }
        if let wish = self.headers[.connection] { headers[.connection] = wish }
        // Only POST requests get HTTP 200 always.
        if let allow = self.headers[.allow] { headers[.allow] = allow }
        return Response(
            status: code == .methodNotAllowed ? .methodNotAllowed : .ok, headers: headers,
            body: ResponseBody(byteBuffer: writer.buffer))
    }
}
