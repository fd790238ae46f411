import Formats

/// An event for a publisher's billing side, with ids alone.
public enum BillingEvent: String, Sendable, CaseIterable {
    case orderSucceeded = "OrderSucceeded"
    case contractCreated = "ContractCreated"
    case contractChanged = "ContractChanged"
    /// It was said that it will not be renewed; its end is a change of its own.
    case contractCancelled = "ContractCancelled"

    /// Without regard to case.
    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else {
            return nil
        }
        self = found
    }

    /// How a subscription was shown, and how it is now, as far as its contract is concerned.
    public struct Picture: Sendable, Hashable {
        public var status: SubscriptionStanding.Status?
        /// In whole seconds: receipts have no more, transactions of the same period do.
        public private(set) var expiresAt: Timestamp?
        public var willRenew: Bool?
        public var productID: ProductID?

        public init(
            status: SubscriptionStanding.Status?, expiresAt: Timestamp?, willRenew: Bool?, productID: ProductID?
        ) {
            self.status = status
            self.expiresAt = expiresAt?.wholeSeconds
            self.willRenew = willRenew
            self.productID = productID
        }
    }

    /// What follows for the contract; nil where nothing does. Of one word that ends a subscription and says that it will not be
    /// renewed only the end is reported, and renewal that is turned on again is a change.
    public init?(from before: Picture, to after: Picture) {
        guard before.status != nil, let status = after.status, before != after else { return nil }
        // Grace changes nothing of a contract: what it opens stays open.
        let isSame =
            Self.weight(before.status) == Self.weight(status) && before.expiresAt == after.expiresAt
            && before.productID == after.productID
        guard isSame else {
            self = .contractChanged
            return
        }
        switch after.willRenew {
        case false? where status.grantsAccess && before.willRenew != false: self = .contractCancelled
        case true? where before.willRenew == false: self = .contractChanged
        default: return nil
        }
    }

    private static func weight(_ status: SubscriptionStanding.Status?) -> SubscriptionStanding.Status? {
        status == .inGrace ? .active : status
    }

    /// - Parameters:
    ///   - contract, customer: always.
    ///   - order: of ``orderSucceeded``.
    public func body(contract: String, customer: String, order: String? = nil) -> String {
        var writer = JSONWriter(capacity: 160)
        writer.beginObject()
        writer.member("Event", rawValue)
        writer.member("OrderId", order)
        writer.member("ContractId", contract)
        writer.member("CustomerId", customer)
        writer.member("EntityId", order ?? contract)
        writer.endObject()
        return writer.text
    }
}
