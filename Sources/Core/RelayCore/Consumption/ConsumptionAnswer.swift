/// The answer to Apple about a purchase (App Store Server API, `ConsumptionRequest` of version 2).
public struct ConsumptionAnswer: Sendable, Equatable {
    /// Whether the customer got what they paid for.
    public enum Delivery: String, Sendable {
        case delivered = "DELIVERED"
        /// Not granted yet, but a grant is still possible.
        case serverOutage = "UNDELIVERED_SERVER_OUTAGE"
        case other = "UNDELIVERED_OTHER"
    }

    public var sampleContentProvided: Bool
    public var delivery: Delivery
    public var consumptionPercentage: Int?
    public var refundPreference: ConsumptionFacts.RefundPreference?

    /// Applies Apple's rules. An auto-renewable subscription has no percentage, and an undelivered purchase was not
    /// used. Leaves out a preference that Apple would not accept with these facts.
    ///
    /// - Parameter renews: whether it is an auto-renewable subscription.
    /// - Returns: nil without the customer's consent.
    public init?(_ facts: ConsumptionFacts, _ delivery: Delivery, renews: Bool) {
        guard facts.customerConsented else { return nil }
        sampleContentProvided = facts.sampleContentProvided
        self.delivery = delivery
        refundPreference = facts.refundPreference
        if !renews { consumptionPercentage = delivery == .delivered ? facts.consumptionPercentage : 0 }
        let isPart = consumptionPercentage.map { $0 > 0 && $0 < 100_000 } ?? false
        if refundPreference == .grantProrated, !renews, !isPart { refundPreference = nil }
    }

    /// JSON as sent. None of the values needs escaping.
    public var json: String {
        var members = [
            #""customerConsented":true"#, #""sampleContentProvided":\#(sampleContentProvided)"#,
            #""deliveryStatus":"\#(delivery.rawValue)""#,
        ]
        if let consumptionPercentage { members.append(#""consumptionPercentage":\#(consumptionPercentage)"#) }
        if let refundPreference { members.append(#""refundPreference":"\#(refundPreference.rawValue)""#) }
        return "{\(members.joined(separator: ","))}"
    }
}
