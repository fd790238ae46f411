import Formats
import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

extension Problem {
    /// Its readers know one member.
    var billwerkResponse: Response {
        var writer = JSONWriter(capacity: 160)
        writer.beginObject()
        writer.member("Message", message)
        writer.endObject()
        return answer(writer, status: status, headers: headers)
    }

    /// RFC 6749 has one error for whatever is wrong with a request, and 400 for it.
    var oauthResponse: Response {
        let error =
            switch code {
            case .unsupportedGrant: "unsupported_grant_type"
            case _ where status == .unauthorized: "invalid_client"
            case _ where status == .serviceUnavailable: "temporarily_unavailable"
            case _ where status.kind == .serverError: "server_error"
            default: "invalid_request"
            }
        var writer = JSONWriter(capacity: 160)
        writer.beginObject()
        writer.member("error", error)
        writer.member("error_description", message)
        writer.endObject()
        var headers = headers
        if status == .unauthorized { headers[.wwwAuthenticate] = "Basic realm=\"receipt-relay\"" }
        return answer(writer, status: status, headers: headers)
    }

    private func answer(_ writer: JSONWriter, status: HTTPResponse.Status, headers: HTTPFields) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-store"
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: writer.buffer))
    }
}
