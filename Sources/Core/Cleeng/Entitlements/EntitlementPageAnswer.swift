import OutboundHTTP

/// Meaning of one response to `GET /3.1/entitlements`.
enum EntitlementPageAnswer {
    case page(EntitlementPage)
    /// Cleeng does not know the customer, who is therefore not entitled yet.
    case unknownCustomer
    case verdict(EntitlementReply.Verdict)

    /// Sorts the statuses like those of a forward. But a read rejects nothing: 400 and 422 are retried.
    ///
    /// The answer for an unknown email is not documented. A 404 whose message is about a customer counts as that; any
    /// other 404 is a wrong URL.
    init(_ reply: HTTPReply, scrubber: MessageScrubber) {
        switch reply.status {
        case 200..<300:
            switch reply.body {
            case .success(let body):
                self = EntitlementPage(body).map { .page($0) } ?? .verdict(.tryAgain(.unreadable, retryAfter: nil))
            case .failure(let error):
                self = .verdict(.tryAgain(CleengTrouble(error), retryAfter: nil))
            }
        case 404:
            self = reply.isAboutCustomer ? .unknownCustomer : .verdict(.misconfigured(message: nil))
        default:
            self = .verdict(.init(failed: reply, scrubber: scrubber))
        }
    }
}

extension EntitlementReply.Verdict {
    /// Verdict for a status without success, from any read.
    init(failed reply: HTTPReply, scrubber: MessageScrubber) {
        if StatusSorting.isMisconfiguration(reply.status) {
            self = .misconfigured(message: UpstreamMessage(reply.wholeBody, scrubber: scrubber).message)
        } else {
            self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }
}
