import OutboundHTTP
public import RelayCore

/// What a store says of one purchase, read at one moment.
public struct StoreSubscription: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        case subscription
        /// Bought once and kept.
        case oneTime = "one_time"
        /// Used up: it enters no ledger.
        case consumable
    }

    /// One product of a purchase. Google sells several at once; all others have one.
    public struct Item: Sendable, Hashable {
        public var productID: ProductID
        /// The discount or offer by which it was bought.
        public var offerID: String?
        /// Order of the last payment that went through.
        public var orderID: TransactionID?
        public var expiresAt: Timestamp?
        /// Nil where the store does not say.
        public var autoRenews: Bool?
        /// The product that comes after this period, where it is another one.
        public var nextProductID: ProductID?
        /// Nil where the store does not say.
        public var isTrial: Bool?
        public var isIntro: Bool?
        /// Whether a higher price was agreed to; nil where none is asked for.
        public var hasAgreedToPrice: Bool?

        public init(productID: ProductID) { self.productID = productID }
    }

    public var store: StorePlatform
    public var kind: Kind
    /// What the store knows the purchase by, from its beginning to its end: the purchase token at Google, the receipt id at
    /// Amazon, the original transaction at Roku. Without prefix.
    public var key: TransactionID
    /// Key of the purchase that this one replaced.
    public var previousKey: TransactionID?
    /// Never empty.
    public var items: [Item]
    public var state: StoreState
    public var firstPurchasedAt: Timestamp?
    /// Until when access continues without payment.
    public var graceUntil: Timestamp?
    /// End of the paid period before grace; nil if the store does not say.
    public var paidUntil: Timestamp?
    public var cancellation: StoreCancellation?
    public var isTest: Bool
    /// Whether the grant is acknowledged; nil where the store does not say.
    public var isAcknowledged: Bool?
    /// The app's own name for its customer at the time of purchase; nil if the app gave none or the store does not say.
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

    /// What it is called in the ledger.
    public var ledgerKey: TransactionID { store.subscriptionKey(key) }

    /// As the ledger names environments.
    public var environment: StoreEnvironment { isTest ? .sandbox : .production }

    /// The one that runs longest, and so speaks for the purchase; of several the first. What says no end runs longest of all.
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
    /// Nil where the store does not say.
    public var autoRenews: Bool? { mainItem?.autoRenews }

    /// Fovea's `renewalIntent`; nil where there is nothing to renew, or the store does not say.
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

/// How a purchase stands at the store, in one vocabulary for all of them.
public enum StoreState: String, Sendable, Hashable, CaseIterable {
    /// Not paid yet, so nothing was bought.
    case pending
    /// It was never paid, and never will be.
    case pendingCanceled = "pending_canceled"
    case active
    /// Not paid, and access continues for a while.
    case inGrace = "in_grace"
    /// Not paid, and access has ended until it is.
    case onHold = "on_hold"
    /// The customer paused it: no access until it resumes by itself.
    case paused
    /// It will not renew, and runs to its end.
    case canceled
    case expired
    /// What was paid for was taken back.
    case revoked
    /// A word that this program does not know: what counts is until when it runs.
    case unknown

    /// Whether anything was ever bought.
    public var isPurchase: Bool { self != .pending && self != .pendingCanceled }

    /// Whether the store says that there is no access, whatever the dates say.
    var isShut: Bool { self == .onHold || self == .paused || self == .expired || self == .revoked }
}

extension JSONValue {
    /// A date in any of its forms; what is finer than a microsecond is cut off. Nil for what is none.
    package var moment: Timestamp? { scalarText.flatMap { Timestamp(external: $0) } }
}
