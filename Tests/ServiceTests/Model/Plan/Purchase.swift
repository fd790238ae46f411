extension Model {
    /// One purchase, identified by three numbers. Each subscription has its own offer, since an entitlement names only
    /// the offer.
    struct Purchase: Hashable, Sendable, CustomStringConvertible {
        var customer: Int
        var subscription: Int
        /// Number of the subscription's receipt. Any customer may send it.
        var receipt: Int

        var email: String { Self.email(customer) }
        var offer: String { "S10000000\(subscription)_US" }
        var original: String { "200000000000000\(subscription)" }
        var transactionID: String { "30000000000000\(subscription)\(receipt)" }
        var description: String { "c\(customer)-s\(subscription)-r\(receipt)" }

        static func email(_ customer: Int) -> String { "c\(customer)@example.test" }

        static func customer(_ email: String) -> Int? {
            guard email.hasPrefix("c"), let at = email.firstIndex(of: "@") else { return nil }
            return Int(email[..<at].dropFirst())
        }

        static func subscription(_ original: String) -> Int? {
            original.count == 16 ? original.last?.wholeNumberValue : nil
        }
    }
}

extension Model.Purchase {
    /// Fails if the purchase is not from a plan.
    init?(email: String, original: String, transactionID: String) {
        guard let customer = Self.customer(email), let subscription = Self.subscription(original),
            let receipt = transactionID.last?.wholeNumberValue
        else { return nil }
        self.init(customer: customer, subscription: subscription, receipt: receipt)
    }
}
