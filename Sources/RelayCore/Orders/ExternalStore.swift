/// What is asked of a store: how a subscription stands that a publisher names by what its app was given.
public enum ExternalStoreQuery: Sendable, Hashable {
    /// - Parameter bundleID: nil: any app that the relay speaks for.
    case apple(transactionID: TransactionID, bundleID: BundleID?)
    case google(packageName: BundleID, subscriptionID: String, token: String)
    case amazon(receiptID: String, userID: String)

    public var platform: StorePlatform {
        switch self {
        case .apple: .apple
        case .google: .google
        case .amazon: .amazon
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
    public var word: LedgerWord
    public var bundleID: BundleID?
    /// The newest product, as the store names it.
    public var productID: ProductID?
    public var isTrial: Bool

    public init(
        key: TransactionID, environment: StoreEnvironment, word: LedgerWord, bundleID: BundleID? = nil,
        productID: ProductID? = nil,
        isTrial: Bool? = nil
    ) {
        self.key = key
        self.environment = environment
        self.word = word
        self.bundleID = bundleID
        let newest = word.periods.max { $0.purchasedAt < $1.purchasedAt }
        self.productID = productID ?? newest?.productID
        self.isTrial = isTrial ?? newest?.isTrial ?? false
    }

    public var platform: StorePlatform { StorePlatform(subscriptionKey: key) }
}

/// What a store said.
public enum ExternalStoreAnswer: Sendable, Equatable {
    /// Of Google and Amazon one; of Apple as many as the customer has.
    case found([ExternalSubscription])
    /// It says no; the reason is told to the publisher, in words that hold no secret.
    case no(String)
    /// It was one, and is over for so long, or so wholly, that the store says nothing more of it; in words as those of ``no(_:)``.
    case ended(String)
    /// It knows nothing by that name.
    case unknown
    /// The relay has no access to this store.
    case notConfigured
    /// Passing trouble.
    case tryAgain(after: Duration?)
}

/// One store, as those who check subscriptions ask it. Ends within seconds, always with an answer; only what is proven to come from
/// the store is ever `found`.
public protocol ExternalStore: Sendable {
    func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer
}
