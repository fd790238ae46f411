import OutboundHTTP
import RelayCore

extension PaymentReply.Verdict {
    /// Sorts an answer by its status, and by Cleeng's code where a status says too little.
    ///
    /// | status, code | verdict | why |
    /// | --- | --- | --- |
    /// | 500 `SK2C0004` | misconfigured | StoreKit 2 is not activated for this publisher |
    /// | 400 `REQ0004` | misconfigured | our headers, not the purchase |
    /// | 422 `SK2C0005` | try again | a migration is in progress |
    /// | 409 (`SK2C0101`, `SK2C0103`, `SK2C0104`) | try again | another request for this transaction runs |
    /// | all else | as for `/apple/payment` | |
    init(storeKit2 reply: HTTPReply, scrubber: MessageScrubber) {
        let said = UpstreamMessage(reply.wholeBody, scrubber: scrubber)
        switch (reply.status, said.code) {
        case (500, "SK2C0004"), (400, "REQ0004"): self = .misconfigured(message: said.message ?? said.code)
        case (422, "SK2C0005"):
            self = .tryAgain(.conflict, retryAfter: reply.headers.retryAfter())
        default: self.init(reply, scrubber: scrubber)
        }
    }
}

extension SynchronizationReply.Verdict {
    init(_ reply: HTTPReply, scrubber: MessageScrubber) {
        let retryAfter = reply.headers.retryAfter()
        let said = UpstreamMessage(reply.wholeBody, scrubber: scrubber)
        switch reply.status {
        case 200..<300:
            switch reply.body {
            case .success(let body):
                self = Self.read(JSONValue(body), scrubber) ?? .tryAgain(.unreadable, retryAfter: nil)
            case .failure(let error): self = .tryAgain(CleengTrouble(error), retryAfter: nil)
            }
        // Without a code of Cleeng's own it is not the endpoint that we mean.
        case 404 where said.code != nil: self = .unknown
        case 500 where said.code == "SK2C0004": self = .misconfigured(message: said.message ?? said.code)
        case let status where StatusSorting.isMisconfiguration(status) || status == 400:
            self = .misconfigured(message: said.message)
        default: self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: retryAfter)
        }
    }

    private static func read(_ json: JSONValue?, _ scrubber: MessageScrubber) -> Self? {
        guard let json, let status = json["status"]?.string else { return nil }
        switch status {
        case "processing", "retrying": return .running(status)
        case "finalized":
            return .finalized(
                accessGranted: json["accessGranted"]?.flag, offerID: OfferID(json["offerId"]?.string),
                result: json["result"]?.string.flatMap(scrubber.clean))
        default: return nil
        }
    }
}
