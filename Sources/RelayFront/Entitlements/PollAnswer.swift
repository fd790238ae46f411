import HTTPTypes
import Hummingbird
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
        let tag = EntityTag.of(validation)
        var headers: HTTPFields = [.eTag: tag, .cacheControl: "no-store"]
        if !validation.status.isFinalForPolling { headers[.retryAfter] = poll.text }
        if let appliedWait { headers[.preferenceApplied] = "wait=\(appliedWait)" }
        if EntityTag.matches(ifNoneMatch, tag) {
            var response = Response(status: .notModified, headers: headers)
            // Zero would be the length of the answer that is not sent.
            response.headers[.contentLength] = nil
            return response
        }
        headers[.contentType] = "application/json"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: validation.pollJSON))
    }
}
