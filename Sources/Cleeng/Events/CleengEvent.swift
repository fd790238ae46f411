import Formats
public import NIOCore
import OutboundHTTP
public import RelayCore

/// What Cleeng tells of its own accord (its webhooks): `{"broadcasterId":…,"topic":"…","data":{…}}`.
///
/// Topics and fields that this program does not know are passed over; numbers may come as text.
public struct CleengEvent: Sendable, Equatable {
    /// What it means for a purchase that is waited for.
    public enum Verdict: Sendable, Equatable {
        case granted
        /// In lower case, as Cleeng names the cause.
        case refused(reason: String)
        /// A subscription that ran does no longer.
        case ended
        case nothing
    }

    public var topic: String
    public var verdict: Verdict
    public var result: String?
    public var offerID: OfferID?
    /// The StoreKit 2 synchronization that ended.
    public var synchronizationID: String?
    public var customerID: Int64?
    public var customerEmail: EmailAddress?
    /// Nil where it names none, or what is no date.
    public var expiresAt: Timestamp?

    /// - Returns: nil for what is no JSON object with a topic.
    public init?(_ body: ByteBuffer) {
        guard let json = JSONValue(body), let topic = json["topic"]?.string, !topic.isEmpty else { return nil }
        let data = json["data"]
        let scrubber = MessageScrubber(hiding: [])
        self.topic = topic
        result = data?["result"]?.string.flatMap(scrubber.clean)
        offerID = OfferID(data?["offerId"]?.string)
        synchronizationID = topic == "inappPurchaseSyncResult" ? data?["synchronizationId"]?.scalarText : nil
        let number = ["cleengCustomerId", "customerId"].lazy.compactMap { data?[$0]?.scalarText }.first
        customerID = number.flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
        customerEmail = ["customerEmail", "email"].lazy.compactMap { EmailAddress(data?[$0]?.string) }.first
        expiresAt = (data?["expirationDate"] ?? data?["expiresAt"])?.scalarText.flatMap { Timestamp(external: $0) }
        verdict = .nothing
        let cause = ["result", "errorCode", "code", "reason"].lazy.compactMap { data?[$0]?.scalarText }.first
        verdict = judged(data, cause: cause.flatMap(scrubber.clean))
    }

    /// What cannot be read neither grants nor refuses: the purchase is read all the same.
    private func judged(_ data: JSONValue?, cause: String?) -> Verdict {
        let reason = String((cause ?? "validation_failed").lowercased().prefix(100))
        switch topic {
        case "inappPurchaseValidationSucceeded":
            let active = data?["active"]
            return active == nil || active == .flag(true) ? .granted : .nothing
        case "inappPurchaseValidationFailed": return .refused(reason: reason)
        case "inappPurchaseSyncResult":
            guard let isGranted = data?["accessGranted"]?.flag else { return .nothing }
            if isGranted { return .granted }
            // A refusal is of the synchronization that it names, and the result decides whether a transfer is asked for.
            let result = data?["result"]
            let isLegible = synchronizationID != nil && (result == nil || result?.string != nil)
            return isLegible ? .refused(reason: reason) : .nothing
        case "subscriptionCreated": return .granted
        case "subscriptionTerminated": return .ended
        default: return .nothing
        }
    }

    /// Cleeng says that it passed the subscription from another customer to this one.
    public var isTransfer: Bool { verdict == .granted && result?.lowercased() == "subscriptiontransferred" }

    /// What a grant that rests on it is justified by: JSON, of Cleeng's own words.
    public var evidence: String {
        var writer = JSONWriter()
        writer.beginObject()
        // Seconds since 1970.
        writer.member("expiresAt", expiresAt.map { Int($0.secondsSince1970) })
        writer.member("offerId", offerID?.text)
        writer.member("result", result)
        writer.member("topic", topic)
        writer.endObject()
        return writer.text
    }
}
