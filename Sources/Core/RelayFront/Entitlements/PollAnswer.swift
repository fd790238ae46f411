import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import RelayStore

/// The answer to a poll.
struct PollAnswer: Sendable {
    let poll: PollInterval
    let ifNoneMatch: String?
    /// Seconds in `Preference-Applied`.
    var appliedWait: Int?

    func isUnchanged(_ known: KnownValidation) -> Bool {
        EntityTag.matches(ifNoneMatch, PollText.of(known).tag)
    }

    func response(_ known: KnownValidation) -> Response {
        let (head, body) = parts(known)
        var response = Response(
            status: head.status, headers: head.headerFields,
            body: body.map { ResponseBody(byteBuffer: $0) } ?? ResponseBody())
        // The response sets the length of an empty body, 0, but that of the omitted body is not 0.
        if body == nil { response.headers[.contentLength] = nil }
        return response
    }

    /// The answer's parts. There is no body if the client has this answer already.
    func parts(_ known: KnownValidation) -> (head: HTTPResponse, body: ByteBuffer?) {
        let text = PollText.of(known)
        var headers: HTTPFields = [.eTag: text.tag, .cacheControl: "no-store"]
        if !known.validation.status.isFinalForPolling { headers[.retryAfter] = poll.text }
        if let appliedWait { headers[.preferenceApplied] = "wait=\(appliedWait)" }
        if EntityTag.matches(ifNoneMatch, text.tag) {
            return (HTTPResponse(status: .notModified, headerFields: headers), nil)
        }
        headers[.contentType] = "application/json"
        headers[.contentLength] = text.length
        return (HTTPResponse(status: .ok, headerFields: headers), text.body)
    }
}

/// A poll's answer as sent, without the parts that depend on the request.
struct PollText: Sendable {
    let tag: String
    let body: ByteBuffer
    let length: String

    private init(_ validation: Validation) {
        tag = EntityTag.of(validation)
        body = validation.pollJSON
        length = String(body.readableBytes)
    }

    static func of(_ known: KnownValidation) -> PollText {
        known.serialized { PollText($0) }
    }
}

/// Seconds that an app must wait before it polls again, for `Retry-After` and `pollAfterSeconds`: rounded up, at least
/// one.
struct PollInterval: Sendable {
    let seconds: Int
    let text: String

    init(_ interval: Duration) {
        let (whole, rest) = interval.components
        seconds = Swift.max(1, Int(clamping: whole) + (rest > 0 ? 1 : 0))
        text = String(seconds)
    }
}
