/// A change of a customer's purchases, as a transaction records it. The publisher is notified of it
/// (``CustomerUpdate``), and copies drop their cached answers about the customer.
public struct CustomerChange: Sendable, Hashable {
    /// Value in the publisher's webhooks.
    public enum Reason: String, Sendable, CaseIterable {
        case purchased = "PURCHASED"
        case renewed = "RENEWED"
        case expired = "EXPIRED"
        case refunded = "REFUNDED"
        case revoked = "REVOKED"
        case willLapse = "WILL_LAPSE"
        case willAutoRenew = "WILL_AUTO_RENEW"
        case enteredGracePeriod = "ENTERED_GRACE_PERIOD"
        case priceChangeConfirmed = "PRICE_CHANGE_CONFIRMED"
        case receiptValidated = "RECEIPT_VALIDATED"
        case other = "OTHER"

        /// - Parameter reason: why access ended, as in validations.
        public init(ending reason: String) {
            self =
                switch reason {
                case "refunded": .refunded
                case "family_revoked": .revoked
                default: .other
                }
        }
    }

    public var customer: CustomerName
    public var reason: Reason
    /// The subscription that changed.
    public var subscription: SubscriptionName
    /// Trace of the work that made the change; nil if it has none.
    public var trace: String?

    public init(customer: CustomerName, reason: Reason, subscription: SubscriptionName, trace: String?) {
        self.customer = customer
        self.reason = reason
        self.subscription = subscription
        self.trace = trace
    }

    /// A change and the environment whose endpoints are notified; nil notifies all endpoints.
    public typealias Notified = (change: CustomerChange, environment: StoreEnvironment?)

    /// Merges the changes to one for each customer. The first change gives the reason. If environments differ, all
    /// endpoints are notified.
    public static func merged(_ changes: [CustomerChange]) -> [Notified] {
        var places: [CustomerName: Int] = [:]
        var merged: [Notified] = []
        for change in changes {
            if let place = places[change.customer] {
                if merged[place].environment != change.subscription.environment { merged[place].environment = nil }
            } else {
                places[change.customer] = merged.count
                merged.append((change, change.subscription.environment))
            }
        }
        return merged
    }
}
