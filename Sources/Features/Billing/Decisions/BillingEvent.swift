import Formats
import RelayCore

/// An event for a publisher's billing system. It contains ids only.
enum BillingEvent: String, Sendable, CaseIterable {
    case orderSucceeded = "OrderSucceeded"
    case contractCreated = "ContractCreated"
    case contractChanged = "ContractChanged"
    /// The contract will not renew. Its end is a separate change.
    case contractCancelled = "ContractCancelled"

    /// Ignores case.
    init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else {
            return nil
        }
        self = found
    }

    /// State of a subscription as its contract shows it, compared before and after a change.
    struct Picture: Sendable, Hashable {
        var status: SubscriptionState.Status?
        /// Whole seconds. Receipts have no fractions, but transactions of the same period do.
        private(set) var expiresAt: Timestamp?
        var willRenew: Bool?
        var productID: ProductID?

        init(
            status: SubscriptionState.Status?, expiresAt: Timestamp?, willRenew: Bool?, productID: ProductID?
        ) {
            self.status = status
            self.expiresAt = expiresAt?.wholeSeconds
            self.willRenew = willRenew
            self.productID = productID
        }
    }

    /// Events for the contract. One statement may change it and also turn renewal off. If it ends the subscription, only
    /// that is reported. Renewal turned on again is a change.
    static func events(from before: Picture, to after: Picture) -> [BillingEvent] {
        guard before.status != nil, let status = after.status, before != after else { return [] }
        // Entering a grace period does not change the contract: access continues.
        let isSame =
            weight(before.status) == weight(status) && before.expiresAt == after.expiresAt
            && before.productID == after.productID
        var events: [BillingEvent] = []
        if !isSame || (after.willRenew == true && before.willRenew == false) { events.append(.contractChanged) }
        if after.willRenew == false, before.willRenew != false, status.grantsAccess {
            events.append(.contractCancelled)
        }
        return events
    }

    private static func weight(_ status: SubscriptionState.Status?) -> SubscriptionState.Status? {
        status == .inGrace ? .active : status
    }

    /// - Parameters:
    ///   - contract, customer: present in every event.
    ///   - order: present in ``orderSucceeded`` only.
    func body(contract: String, customer: String, order: String? = nil) -> String {
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
