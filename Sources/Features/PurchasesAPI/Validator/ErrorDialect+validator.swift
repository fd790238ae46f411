import Formats
import HTTPServer
import HTTPTypes
import Hummingbird
import Relay

extension ErrorDialect {
    /// `{"ok":false,"status":400,"code":6778001,"message":"…"}`, with HTTP 200 (Fovea's validator), since its clients
    /// read only the body. An unsupported method is 405.
    static let validator = ErrorDialect { problem in
        let number = ValidatorCode(problem)
        var writer = JSONWriter(capacity: 240)
        writer.beginObject()
        writer.member("ok", false)
        writer.member("route", ValidateRoutes.path)
        writer.member("status", problem.status.code)
        writer.member("code", number.rawValue)
        writer.member("message", problem.message)
        writer.name("data")
        writer.beginObject()
        writer.member("code", number.rawValue)
        writer.name("error")
        writer.beginObject()
        writer.member("message", problem.message)
        writer.endObject()
        writer.endObject()
        writer.endObject()
        var headers = ValidateRoutes.headers
        // Only POST requests get HTTP 200 always.
        for name in [.retryAfter, .connection, .allow] as [HTTPField.Name] {
            if let value = problem.headers[name] { headers[name] = value }
        }
        return Response(
            status: problem.code == .methodNotAllowed ? .methodNotAllowed : .ok, headers: headers,
            body: ResponseBody(byteBuffer: writer.buffer))
    } of: {
        $0 == ValidateRoutes.path || $0 == ValidateRoutes.path + "/"
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
