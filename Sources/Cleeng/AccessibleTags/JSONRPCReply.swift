import OutboundHTTP

/// The answer to one JSON-RPC call. Errors are in the body; the HTTP status of Cleeng's is 200 either way.
enum JSONRPCReply: Equatable {
    case result(JSONValue)
    case failed(code: Int?, message: String?)
    case verdict(EntitlementAnswer.Verdict)

    init(_ reply: HTTPReply, scrubber: MessageScrubber) {
        // An error object counts whatever the status: it is the more exact word of the two.
        let json = JSONValue(reply.wholeBody)
        if let error = json?["error"], error.isObject {
            self = .failed(
                code: error["code"]?.scalarText.flatMap { Int($0) },
                message: error["message"]?.string.flatMap(scrubber.clean))
            return
        }
        guard (200..<300).contains(reply.status) else {
            self = .verdict(.init(failed: reply, scrubber: scrubber))
            return
        }
        if case .failure(let error) = reply.body {
            self = .verdict(.tryAgain(CleengTrouble(error), retryAfter: nil))
        } else if let result = json?["result"], result.isObject {
            self = .result(result)
        } else {
            self = .verdict(.tryAgain(.unreadable, retryAfter: nil))
        }
    }
}
