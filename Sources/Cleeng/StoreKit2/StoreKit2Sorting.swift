import Formats
import OutboundHTTP
import RelayCore

extension ForwardAnswer.Verdict {
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
        case (422, "SK2C0005"): self = .tryAgain(.conflict, retryAfter: reply.headers.retryAfter())
        default: self.init(reply, scrubber: scrubber)
        }
    }
}

extension SynchronizationAnswer.Verdict {
    /// - Parameter offer: what was asked for.
    init(_ reply: HTTPReply, of offer: OfferID, scrubber: MessageScrubber) {
        let said = UpstreamMessage(reply.wholeBody, scrubber: scrubber)
        switch reply.status {
        case 200..<300:
            switch reply.body {
            case .success(let body): self = Self.read(JSONValue(body), of: offer, scrubber) ?? .tryAgain(.unreadable)
            case .failure(let error): self = .tryAgain(CleengTrouble(error))
            }
        // Without a code of Cleeng's own it is not the endpoint that we mean.
        case 404 where said.code != nil: self = .unknown
        case 500 where said.code == "SK2C0004": self = .misconfigured(message: said.message ?? said.code)
        case let status where StatusSorting.isMisconfiguration(status) || status == 400:
            self = .misconfigured(message: said.message)
        default: self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }

    private static func read(_ json: JSONValue?, of offer: OfferID, _ scrubber: MessageScrubber) -> Self? {
        guard let json, let status = json["status"]?.string else { return nil }
        guard status == "finalized" else {
            return ["processing", "retrying"].contains(status) ? .running(status) : nil
        }
        // One of a list that is not public as a whole.
        let result = json["result"]?.string.flatMap(scrubber.clean)
        let granted = OfferID(json["offerId"]?.string)
        switch json["accessGranted"]?.flag {
        // An offer or a result that is there and no text: the entitlement decides.
        case true? where json["offerId"] != nil && granted == nil: return .unclear
        case false? where json["result"] != nil && json["result"]?.string == nil: return .unclear
        case true?:
            if let granted, granted != offer { return .grantedOther(offer: granted) }
            return .granted(evidence: evidence(granted, result))
        case false?: return .refused(result: String((result ?? "no_access").lowercased().prefix(100)))
        case nil: return .unclear
        }
    }

    /// What a grant that rests on a synchronization is justified by. Keys sorted, so that the same evidence is the same text.
    private static func evidence(_ offer: OfferID?, _ result: String?) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("offerId", offer)
        writer.member("result", result)
        writer.member("source", "storekit2")
        writer.endObject()
        return writer.text
    }

    static func tryAgain(_ trouble: CleengTrouble, retryAfter: Duration? = nil) -> Self {
        .tryAgain(why: trouble.rawValue, retryAfter: retryAfter)
    }
}
