import Formats

/// Query to a store for the status of a subscription, by what the store gave the app.
public struct ExternalStoreQuery: Sendable, Hashable {
    public let platform: StorePlatform
    /// The store's own name of the purchase: a purchase token, a receipt id, or the id of any of its transactions.
    public let id: String
    /// The app for Google, the store's user for Amazon. For Apple the app; nil: any app of this relay.
    public let detail: BundleID?
    /// The product. Google has a call of its own for one-time purchases, which needs it.
    public let product: ProductID?

    public init(_ platform: StorePlatform, id: String, detail: BundleID? = nil, product: ProductID? = nil) {
        self.platform = platform
        self.id = id
        self.detail = detail
        self.product = product
    }
}

/// A subscription that its store has just confirmed.
public struct ExternalSubscription: Sendable, Hashable {
    /// Key in the ledger: ``StorePlatform/subscriptionKey(_:)``.
    public var key: TransactionID
    /// `Production`, `Sandbox`, ….
    public var environment: StoreEnvironment
    /// The store's statement for the ledger. Empty if the ledger has it already.
    public var statement: LedgerStatement
    public var bundleID: BundleID?
    /// The newest product, by the store's name.
    public var productID: ProductID?
    public var isTrial: Bool
    /// False for a one-time purchase; nil if the store does not state it.
    public var isSubscription: Bool?
    /// Kind to acknowledge at the store; nil if no acknowledgement is due.
    public var awaitsAcknowledgement: AcknowledgedKind?
    /// The app's account token for the customer at the time of purchase; nil if unknown.
    public var accountToken: String?

    public init(
        key: TransactionID, environment: StoreEnvironment, statement: LedgerStatement, bundleID: BundleID? = nil,
        productID: ProductID? = nil, isTrial: Bool? = nil, isSubscription: Bool? = nil,
        awaitsAcknowledgement: AcknowledgedKind? = nil, accountToken: String? = nil
    ) {
        self.key = key
        self.environment = environment
        self.statement = statement
        self.bundleID = bundleID
        let newest = statement.periods.max { $0.purchasedAt < $1.purchasedAt }
        self.productID = productID ?? newest?.productID
        self.isTrial = isTrial ?? newest?.isTrial ?? false
        self.isSubscription = isSubscription
        self.awaitsAcknowledgement = awaitsAcknowledgement
        self.accountToken = accountToken
    }

    public var platform: StorePlatform { StorePlatform(subscriptionKey: key) }
}

extension [ExternalSubscription] {
    /// The purchase with a ledger key, in a store's answer about that key. Some stores also find it by a renewal, and
    /// return it under its original transaction.
    public func purchase(_ key: TransactionID) -> ExternalSubscription? {
        first { $0.key == key } ?? (StorePlatform(subscriptionKey: key).namesRenewals ? first : nil)
    }
}

extension ExternalSubscription {
    /// The subscription and those that it continues, under their names at a publisher.
    public func names(of publisher: PublisherID) -> [SubscriptionName] {
        let own = SubscriptionName(publisher: publisher, environment: environment, originalTransactionID: key)
        return [own] + statement.movesFrom.sorted().map(own.under)
    }
}

/// The kind of a purchase to acknowledge. Google has an endpoint for each.
public enum AcknowledgedKind: Sendable, Hashable {
    case subscription, product
}

/// Result of an acknowledgement.
public enum AcknowledgementAnswer: Sendable, Equatable {
    case done
    /// The store refuses it; the reason is from a fixed set. It may have been acknowledged meanwhile, so the store must
    /// be asked.
    case refused(String)
    /// The relay lacks permission to acknowledge. The text contains no secret.
    case misconfigured(String)
    /// Temporary failure.
    case tryAgain(after: Duration?)
}

/// A store's answer to a query.
public enum ExternalStoreAnswer: Sendable, Equatable {
    /// One subscription; from Apple all subscriptions of the customer.
    case found([ExternalSubscription])
    /// The store denies the purchase. The publisher receives the reason, which contains no secret.
    case no(String)
    /// The subscription ended, and the store returns no more details about it. The text is as in ``no(_:)``.
    case ended(String)
    /// The store does not know the purchase.
    case unknown
    /// The relay has no access to this store.
    case notConfigured
    /// The store refuses the relay's key, secret or settings. The text contains no secret. Callers may retry: an
    /// operator has to fix it.
    case misconfigured(String)
    /// Temporary failure.
    case tryAgain(after: Duration?)
}

extension ExternalStoreAnswer {
    /// When the caller may try again, if the store could not be asked.
    public var pause: Duration? {
        switch self {
        case .misconfigured: .seconds(60)
        case .tryAgain(let pause): pause ?? .seconds(10)
        case .found, .no, .ended, .unknown, .notConfigured: nil
        }
    }

    /// ``pause`` in whole seconds, at least 1.
    public var retryAfterSeconds: Int { max(1, Int((pause ?? .zero).seconds.rounded(.up))) }
}

/// A store's API for subscription checks. A call ends within seconds, always with an answer. `found` contains only what
/// is proven to come from the store.
public protocol ExternalStore: Sendable {
    func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer

    /// Acknowledges a granted purchase. A repeat changes nothing.
    ///
    /// - Parameters:
    ///   - query: the query that found the purchase.
    ///   - purchase: the purchase as found.
    func acknowledge(_ query: ExternalStoreQuery, _ purchase: ExternalSubscription) async -> AcknowledgementAnswer
}

extension ExternalStore {
    /// Default for stores without acknowledgements.
    public func acknowledge(_ query: ExternalStoreQuery, _ purchase: ExternalSubscription) async
        -> AcknowledgementAnswer
    {
        .done
    }
}
