import Formats
import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

/// The plugin's own numbers for what went wrong with a validation (cordova-plugin-purchase, "validation error codes").
enum ValidatorCode: Int {
    case invalidPayload = 6_778_001
    /// The store could not be asked: the same again, later.
    case connectionFailed = 6_778_002
    /// It was bought, and is over. What the store still knows is answered as a purchase that has expired.
    case purchaseExpired = 6_778_003
    case internalError = 6_778_005

    init(_ problem: Problem) {
        switch problem.code {
        // It was not looked at: the same again, later.
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
        // HTTP 200 always is for those that post.
        if let allow = self.headers[.allow] { headers[.allow] = allow }
        return Response(
            status: code == .methodNotAllowed ? .methodNotAllowed : .ok, headers: headers,
            body: ResponseBody(byteBuffer: writer.buffer))
    }
}
