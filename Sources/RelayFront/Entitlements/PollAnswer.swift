import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

/// The answer to a poll.
struct PollAnswer: Sendable {
    let poll: PollInterval
    let ifNoneMatch: String?
    /// What `Preference-Applied` says, in seconds.
    var appliedWait: Int?

    func isUnchanged(_ validation: Validation) -> Bool {
        EntityTag.matches(ifNoneMatch, EntityTag.of(validation))
    }

    func response(_ validation: Validation) -> Response {
        let (head, body) = parts(validation)
        var response = Response(
            status: head.status, headers: head.headerFields,
            body: body.map { ResponseBody(byteBuffer: $0) } ?? ResponseBody())
        // Zero would be the length of the answer that is not sent.
        if body == nil { response.headers[.contentLength] = nil }
        return response
    }

    /// No body where the client has this answer already.
    func parts(_ validation: Validation) -> (head: HTTPResponse, body: ByteBuffer?) {
        let tag = EntityTag.of(validation)
        var headers: HTTPFields = [.eTag: tag, .cacheControl: "no-store"]
        if !validation.status.isFinalForPolling { headers[.retryAfter] = poll.text }
        if let appliedWait { headers[.preferenceApplied] = "wait=\(appliedWait)" }
        if EntityTag.matches(ifNoneMatch, tag) {
            return (HTTPResponse(status: .notModified, headerFields: headers), nil)
        }
        let body = validation.pollJSON
        headers[.contentType] = "application/json"
        headers[.contentLength] = String(body.readableBytes)
        return (HTTPResponse(status: .ok, headerFields: headers), body)
    }
}
