import Formats
public import NIOCore
import OutboundHTTP
public import RelayCore

/// An event from Cleeng's webhooks: `{"broadcasterId":…,"topic":"…","data":{…}}`.
///
/// Unknown topics and fields are ignored; numbers may be sent as text.
public struct CleengEvent: Sendable, Equatable {
    /// Meaning of the event for a waiting purchase.
    public enum Verdict: Sendable, Equatable {
        case granted
        /// Cleeng's cause, in lower case.
        case refused(reason: String)
        /// A running subscription has ended.
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
    /// The customer from whom Cleeng moved the subscription.
    public var previousCustomerID: Int64?
    /// Nil if it is missing or not a date.
    public var expiresAt: Timestamp?

    /// - Returns: nil if the body is not a JSON object with a topic.
    public init?(_ body: ByteBuffer) {
        guard let json = JSONValue(body), let topic = json["topic"]?.string, !topic.isEmpty else { return nil }
        let data = json["data"]
        let scrubber = MessageScrubber(hiding: [])
        self.topic = topic
        result = data?["result"]?.string.flatMap(scrubber.clean)
        offerID = OfferID(data?["offerId"]?.string)
        synchronizationID = topic == "inappPurchaseSyncResult" ? data?["synchronizationId"]?.scalarText : nil
        customerID = Self.number(["cleengCustomerId", "customerId"], in: data)
        previousCustomerID = Self.number(["prevCustomerId"], in: data)
        customerEmail = ["customerEmail", "email"].lazy.compactMap { EmailAddress(data?[$0]?.string) }.first
        expiresAt = (data?["expirationDate"] ?? data?["expiresAt"])?.scalarText.flatMap { Timestamp(external: $0) }
        verdict = .nothing
        let cause = ["result", "errorCode", "code", "reason"].lazy.compactMap { data?[$0]?.scalarText }.first
        verdict = judged(data, cause: cause.flatMap(scrubber.clean))
    }

    /// The first of these members, if it is a customer's number.
    private static func number(_ names: [String], in data: JSONValue?) -> Int64? {
        names.lazy.compactMap { data?[$0]?.scalarText }.first.flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// The verdict of the event. Illegible content neither grants nor refuses; the entitlement is read later anyway.
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
            // A refusal concerns only the synchronization that it names. Its result shows whether to transfer.
            let result = data?["result"]
            let isLegible = synchronizationID != nil && (result == nil || result?.string != nil)
            return isLegible ? .refused(reason: reason) : .nothing
        case "subscriptionCreated": return .granted
        case "subscriptionTerminated": return .ended
        default: return .nothing
        }
    }

    /// Whether Cleeng moved the subscription from another customer to this one.
    public var isTransfer: Bool { verdict == .granted && result?.lowercased() == "subscriptiontransferred" }

    /// JSON of Cleeng's statement, as the evidence of a grant.
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
