import Formats
import OutboundHTTP
import RelayCore

/// A connector's statement about the synchronization that a request began or found.
struct SynchronizationStart {
    /// Nil if the answer has no name, or one that cannot be part of a path unescaped.
    let name: String?
    /// Whether the synchronization has ended. It is then the result of an earlier request.
    let hasEnded: Bool

    init(_ reply: HTTPReply) {
        let json = JSONValue(reply.wholeBody)
        name = json?["synchronizationId"]?.scalarText.flatMap(Self.name)
        hasEnded = json?["status"]?.string == "finalized" || json?["accessGranted"] != nil || json?["result"] != nil
    }

    /// Whether a successful request found another synchronization and began none. Cleeng answers 202 if it begins one.
    func isOther(than name: String, status: Int) -> Bool {
        self.name != name && (hasEnded || status != 202 && self.name != nil)
    }

    /// The text, if it can be part of a path unescaped.
    static func name(_ text: String) -> String? {
        text.wholeMatch(of: /[0-9A-Za-z_-]{1,100}/) == nil ? nil : text
    }
}

extension ForwardAnswer.Verdict {
    /// Sorts an answer by its status, and by Cleeng's code if the status is ambiguous. Not all codes of the Google Play
    /// connector are published, so the endings of StoreKit 2's codes are used for both.
    ///
    /// | status, code | verdict | why |
    /// | --- | --- | --- |
    /// | 500 `SK2C0004`, `…C0004` | misconfigured | the connector is not activated for this publisher |
    /// | 400 `REQ0004` | misconfigured | our headers, not the purchase |
    /// | 422 `SK2C0005`, `…C0005` | try again | a migration is in progress |
    /// | 400, 422 without the body that was announced | try again | the code is missing |
    /// | 409 with a synchronization, Google | duplicate | registered before, by any customer |
    /// | 2xx with a result, or 200 naming another synchronization, Google | duplicate | the same, with its progress |
    /// | 409 (`SK2C0101`, `SK2C0103`, `SK2C0104`) | try again | another request for this purchase is running |
    /// | all else | as for `/apple/payment` | |
    ///
    /// - Parameter name: name that the request gave its synchronization.
    init(_ reply: HTTPReply, of connector: Connector, name: String, scrubber: MessageScrubber) {
        // The code decides here. If it was lost with the body, nothing is known of the purchase.
        if [400, 422].contains(reply.status), case .failure(let error) = reply.body, error != .responseTooLarge {
            self = .tryAgain(CleengTrouble(error), retryAfter: nil)
            return
        }
        let isSuccess = (200..<300).contains(reply.status)
        let said = isSuccess ? nil : UpstreamMessage(reply.wholeBody, scrubber: scrubber)
        let start = connector == .google ? SynchronizationStart(reply) : nil
        switch (reply.status, said?.code) {
        case (500, let code?) where code.isConnectorCode("0004"), (400, let code?) where code == "REQ0004":
            self = .misconfigured(message: said?.message ?? code)
        case (422, let code?) where code.isConnectorCode("0005"):
            self = .tryAgain(.conflict, retryAfter: reply.headers.retryAfter())
        case (409, _) where start?.name != nil: self = .duplicate
        case (200..<300, _) where start.map { $0.isOther(than: name, status: reply.status) } == true: self = .duplicate
        default: self.init(reply, scrubber: scrubber)
        }
    }
}

extension String {
    /// Whether this is a connector's code with the number: `SK2C0004` is StoreKit 2's `0004`.
    fileprivate func isConnectorCode(_ number: String) -> Bool { hasSuffix("C" + number) }
}

extension SynchronizationAnswer.Verdict {
    /// - Parameter offer: offer that the app requested.
    init(_ reply: HTTPReply, of connector: Connector, offer: OfferID, scrubber: MessageScrubber) {
        guard !(200..<300).contains(reply.status) else {
            switch reply.body {
            case .success(let body):
                self = Self.read(JSONValue(body), of: connector, offer: offer, scrubber) ?? .tryAgain(.unreadable)
            case .failure(let error): self = .tryAgain(CleengTrouble(error))
            }
            return
        }
        let said = UpstreamMessage(reply.wholeBody, scrubber: scrubber)
        switch reply.status {
        // A 404 without a code of Cleeng comes from a wrong endpoint.
        case 404 where said.code != nil: self = .unknown
        case 500 where said.code?.isConnectorCode("0004") == true:
            self = .misconfigured(message: said.message ?? said.code)
        case let status where StatusSorting.isMisconfiguration(status) || status == 400:
            self = .misconfigured(message: said.message)
        default: self = .tryAgain(StatusSorting.trouble(reply.status), retryAfter: reply.headers.retryAfter())
        }
    }

    private static func read(
        _ json: JSONValue?, of connector: Connector, offer: OfferID, _ scrubber: MessageScrubber
    ) -> Self? {
        guard let json, let status = json["status"]?.string else { return nil }
        guard status == "finalized" else {
            return ["processing", "retrying"].contains(status) ? .running(status) : nil
        }
        // The list of possible results is not fully published.
        let result = json["result"]?.string.flatMap(scrubber.clean)
        let granted = OfferID(json["offerId"]?.string)
        switch json["accessGranted"]?.flag {
        // The offer or the result is present but not a text, so an entitlement read must decide.
        case true? where json["offerId"] != nil && granted == nil: return .unclear
        case false? where json["result"] != nil && json["result"]?.string == nil: return .unclear
        case true?:
            if let granted, granted != offer { return .grantedOther(offer: granted) }
            return .granted(evidence: evidence(granted, result, connector))
        case false?: return .refused(result: String((result ?? "no_access").lowercased().prefix(100)))
        case nil: return .unclear
        }
    }

    /// Evidence of a grant that rests on a synchronization. Keys are sorted, so that equal evidence is equal text.
    private static func evidence(_ offer: OfferID?, _ result: String?, _ connector: Connector) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("offerId", offer)
        writer.member("result", result)
        writer.member("source", connector.driver.name)
        writer.endObject()
        return writer.text
    }

    static func tryAgain(_ trouble: CleengTrouble, retryAfter: Duration? = nil) -> Self {
        .tryAgain(why: trouble.rawValue, retryAfter: retryAfter)
    }
}
