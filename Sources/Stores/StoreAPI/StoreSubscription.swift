import OutboundHTTP
public import RelayCore

/// A store's report on one purchase, as of one moment.
public struct StoreSubscription: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        case subscription
        /// Bought once, for permanent use.
        case oneTime = "one_time"
        /// Consumable: it enters no ledger.
        case consumable
    }

    /// One product of a purchase. Google sells several in one purchase; the other stores sell one.
    public struct Item: Sendable, Hashable {
        public var productID: ProductID
        /// The plan of the product, from a store that sells it in several.
        public var planID: String?
        /// The discount or offer with which it was bought.
        public var offerID: String?
        /// Order of the last successful payment.
        public var orderID: TransactionID?
        public var expiresAt: Timestamp?
        /// Nil if the store does not say.
        public var autoRenews: Bool?
        /// The product of the next period, if it is another one.
        public var nextProductID: ProductID?
        /// Nil if the store does not say.
        public var isTrial: Bool?
        public var isIntro: Bool?
        /// Whether the customer agreed to a price increase; nil if none is pending.
        public var hasAgreedToPrice: Bool?

        public init(productID: ProductID) { self.productID = productID }
    }

    public var store: StorePlatform
    public var kind: Kind
    /// The store's permanent id of the purchase, without prefix: the purchase token at Google, the receipt id at
    /// Amazon, the original transaction at Roku.
    public var key: TransactionID
    /// Key of the purchase that this one replaced.
    public var previousKey: TransactionID?
    /// Never empty.
    public var items: [Item]
    public var state: StoreState
    public var firstPurchasedAt: Timestamp?
    /// End of access without payment.
    public var graceUntil: Timestamp?
    /// End of the paid period before grace; nil if the store does not say.
    public var paidUntil: Timestamp?
    public var cancellation: StoreCancellation?
    public var isTest: Bool
    /// Whether the grant is acknowledged; nil if the store does not say.
    public var isAcknowledged: Bool?
    /// The app's own id of its customer at the time of purchase; nil if the app gave none or the store does not say.
    public var accountToken: String?
    /// When the store was asked.
    public var readAt: Timestamp

    public init(
        _ store: StorePlatform, _ kind: Kind, key: TransactionID, items: [Item], state: StoreState, isTest: Bool,
        readAt: Timestamp
    ) {
        self.store = store
        self.kind = kind
        self.key = key
        self.items = items
        self.state = state
        self.isTest = isTest
        self.readAt = readAt
    }

    /// Key of the subscription in the ledger.
    public var ledgerKey: TransactionID { store.subscriptionKey(key) }

    /// The environment as the ledger names it.
    public var environment: StoreEnvironment { isTest ? .sandbox : .production }

    /// The longest-running item, which represents the purchase; the first of equals. An item without an end runs
    /// longest.
    public var mainItem: Item? {
        var main = items.first
        for item in items.dropFirst() {
            guard let end = main?.expiresAt else { break }
            if item.expiresAt.map({ $0 > end }) ?? true { main = item }
        }
        return main
    }

    public var productID: ProductID { mainItem?.productID ?? "" }
    public var isTrial: Bool? { mainItem?.isTrial }
    /// End of the period; while in grace, the end of grace.
    public var expiresAt: Timestamp? { mainItem?.expiresAt }
    /// Nil if the store does not say.
    public var autoRenews: Bool? { mainItem?.autoRenews }

    /// Fovea's `renewalIntent`; nil if nothing renews, or if the store does not say.
    public var renewalIntent: String? {
        guard kind == .subscription, state.isPurchase else { return nil }
        switch state {
        case .canceled, .expired, .revoked: return "Lapse"
        default: return autoRenews.map { $0 ? "Renew" : "Lapse" }
        }
    }

    /// Fovea's `renewalIntentChangeDate`.
    public var renewalIntentChangedAt: Timestamp? { renewalIntent == "Lapse" ? cancellation?.at : nil }

    /// Fovea's `isBillingRetryPeriod`.
    public var isInBillingRetry: Bool { state == .inGrace || state == .onHold }
}

/// State of a purchase at the store, in terms common to all stores.
public enum StoreState: String, Sendable, Hashable, CaseIterable {
    /// Not paid yet, so nothing was bought.
    case pending
    /// Never paid, and never will be.
    case pendingCanceled = "pending_canceled"
    case active
    /// Unpaid, but access continues for a while.
    case inGrace = "in_grace"
    /// Unpaid, and access is suspended until payment.
    case onHold = "on_hold"
    /// Paused by the customer: no access until it resumes by itself.
    case paused
    /// Will not renew, but runs until its end.
    case canceled
    case expired
    /// The store revoked what was paid for.
    case revoked
    /// A state that this version does not know: its dates count.
    case unknown

    /// Whether the purchase was ever paid.
    public var isPurchase: Bool { self != .pending && self != .pendingCanceled }

    /// Whether the store denies access, whatever the dates say.
    var isShut: Bool { self == .onHold || self == .paused || self == .expired || self == .revoked }
}

extension JSONValue {
    /// A date in any of its forms, truncated to microseconds. Nil if the value is not a date.
    package var moment: Timestamp? { scalarText.flatMap { Timestamp(external: $0) } }
}
