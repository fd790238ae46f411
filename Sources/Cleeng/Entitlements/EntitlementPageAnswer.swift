import OutboundHTTP

/// What one response to `GET /3.1/entitlements` means.
enum EntitlementPageAnswer {
    case page(EntitlementPage)
    /// Cleeng says that it does not know the customer: nothing is open to them yet.
    case unknownCustomer
    case verdict(EntitlementReply.Verdict)

    /// The statuses are sorted as those of a forward are, but nothing is rejected by a read: 400 and 422 are tried again.
    ///
    /// What an unknown email answers is not documented. A 404 whose message is about a customer is taken for that; any other
    /// 404 is a wrong URL.
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
    /// For a status that is no success, whichever read it came from.
    init(failed reply: HTTPReply, scrubber: MessageScrubber) {
        if StatusSorting.isMisconfiguration(reply.status) {
            self = .misconfigured(message: UpstreamMessage(reply.wholeBody, scrubber: scrubber).message)
        } else {
            self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }
}
