/// What is asked of a store: how a subscription stands that a publisher names by what its app was given.
public enum ExternalStoreQuery: Sendable, Hashable {
    /// - Parameter bundleID: nil: any app that the relay speaks for.
    case apple(transactionID: TransactionID, bundleID: BundleID?)
    case google(packageName: BundleID, subscriptionID: String, token: String)
    case amazon(receiptID: String, userID: String)
    /// - Parameter transactionID: of any of its transactions.
    case roku(transactionID: String)

    public var platform: StorePlatform {
        switch self {
        case .apple: .apple
        case .google: .google
        case .amazon: .amazon
        case .roku: .roku
        }
    }
}

/// A subscription as its store has just shown it, beyond doubt.
public struct ExternalSubscription: Sendable, Hashable {
    /// As the ledger knows it: ``StorePlatform/subscriptionKey(_:)``.
    public var key: TransactionID
    /// `Production`, `Sandbox`, ….
    public var environment: StoreEnvironment
    /// What the store said of it, for the ledger. Empty where the ledger knows it already.
    public var word: LedgerStatement
    public var bundleID: BundleID?
    /// The newest product, as the store names it.
    public var productID: ProductID?
    public var isTrial: Bool
    /// False for what was bought once; nil where the store does not say.
    public var isSubscription: Bool?
    /// What is to be acknowledged at the store; nil if nothing is.
    public var awaitsAcknowledgement: AcknowledgedKind?
    /// The app's own name for its customer at the time of purchase; nil if unknown.
    public var accountToken: String?

    public init(
        key: TransactionID, environment: StoreEnvironment, word: LedgerStatement, bundleID: BundleID? = nil,
        productID: ProductID? = nil, isTrial: Bool? = nil, isSubscription: Bool? = nil,
        awaitsAcknowledgement: AcknowledgedKind? = nil, accountToken: String? = nil
    ) {
        self.key = key
        self.environment = environment
        self.word = word
        self.bundleID = bundleID
        let newest = word.periods.max { $0.purchasedAt < $1.purchasedAt }
        self.productID = productID ?? newest?.productID
        self.isTrial = isTrial ?? newest?.isTrial ?? false
        self.isSubscription = isSubscription
        self.awaitsAcknowledgement = awaitsAcknowledgement
        self.accountToken = accountToken
    }

    public var platform: StorePlatform { StorePlatform(subscriptionKey: key) }
}

/// The kind of a purchase to acknowledge. Google has an endpoint for each.
public enum AcknowledgedKind: Sendable, Hashable {
    case subscription, product
}

/// Result of an acknowledgement.
public enum AcknowledgementAnswer: Sendable, Equatable {
    case done
    /// The store does not take it; the reason is a fixed word. It may have been acknowledged meanwhile: the store is to be asked.
    case refused(String)
    /// The relay may not acknowledge; in words that hold no secret.
    case misconfigured(String)
    /// Passing trouble.
    case tryAgain(after: Duration?)
}

/// What a store said.
public enum ExternalStoreAnswer: Sendable, Equatable {
    /// One subscription from Google, Amazon or Roku; all of the customer's from Apple.
    case found([ExternalSubscription])
    /// It says no; the publisher receives the reason, which holds no secret.
    case no(String)
    /// It was one, and is over for so long, or so wholly, that the store says nothing more of it; in words as those of ``no(_:)``.
    case ended(String)
    /// It knows nothing by that name.
    case unknown
    /// The relay has no access to this store.
    case notConfigured
    /// It does not let the relay ask: our key, our secret or our settings; in words that hold no secret. Who waits may try again: an operator
    /// has to mend it.
    case misconfigured(String)
    /// Passing trouble.
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

    /// The same in whole seconds.
    public var retryAfterSeconds: Int { max(1, Int((pause ?? .zero).seconds.rounded(.up))) }
}

/// One store, as those who check subscriptions ask it. Ends within seconds, always with an answer; only what is proven to come from
/// the store is ever `found`.
public protocol ExternalStore: Sendable {
    func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer

    /// Acknowledges a granted purchase. A repeat changes nothing.
    ///
    /// - Parameters:
    ///   - query: as the purchase was found by.
    ///   - purchase: as it was found.
    func acknowledge(_ query: ExternalStoreQuery, _ purchase: ExternalSubscription) async -> AcknowledgementAnswer
}

extension ExternalStore {
    /// For a store without acknowledgements.
    public func acknowledge(_ query: ExternalStoreQuery, _ purchase: ExternalSubscription) async
        -> AcknowledgementAnswer
    {
        .done
    }
}
