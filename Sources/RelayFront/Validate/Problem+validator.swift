import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

/// The plugin's own numbers for what went wrong with a validation (cordova-plugin-purchase, `ErrorCode`).
enum ValidatorCode: Int {
    case invalidPayload = 6_778_001
    case internalError = 6_778_005
}

extension Problem {
    var validatorResponse: Response {
        let number = status.kind == .serverError ? ValidatorCode.internalError : .invalidPayload
        var writer = CompactJSON(capacity: 240)
        writer.begin()
        writer.member("ok", false)
        writer.member("route", "/v1/validate")
        writer.member("status", status.code)
        writer.member("code", number.rawValue)
        writer.member("message", message)
        writer.name("data")
        writer.begin()
        writer.member("code", number.rawValue)
        writer.name("error")
        writer.begin()
        writer.member("message", message)
        writer.end()
        writer.end()
        writer.end()
        var headers = ValidateRoutes.headers
        if let after = self.headers[.retryAfter] { headers[.retryAfter] = after }
        if let wish = self.headers[.connection] { headers[.connection] = wish }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: writer.bytes)))
    }
}
