public import Logging
public import RelayCore

/// A store's answer about a subscription.
enum StoreStatement: Sendable {
    /// The statement for the ledger.
    case stated(LedgerMessage)
    /// The store has no statement about it.
    case nothing
    /// The store cannot be asked now.
    case away
}

/// Asks stores other than Apple's for the status of their subscriptions.
public struct StoreInquiry: Sendable {
    private let stores: PerPublisher<[StorePlatform: any ExternalStore]>
    private let logger: Logger

    public init(stores: PerPublisher<[StorePlatform: any ExternalStore]>, logger: Logger) {
        self.stores = stores
        self.logger = logger
    }

    /// Stores that at least one account of this copy can ask.
    var platforms: Set<StorePlatform> { stores.all.reduce(into: []) { $0.formUnion($1.keys) } }

    func canAsk(_ platform: StorePlatform, of publisher: PublisherID) -> Bool { stores[publisher]?[platform] != nil }

    func ask(about subscription: LedgerView) async -> StoreStatement {
        let key = subscription.name.originalTransactionID
        let platform = StorePlatform(subscriptionKey: key)
        let answer = await ask(
            key, of: subscription.name.publisher, bundleID: subscription.bundleID,
            productID: subscription.state?.productID)
        switch answer {
        case .found(let found):
            guard let statement = found.purchase(key)?.statement else { return .nothing }
            return .stated(
                LedgerMessage(
                    subscription.name, statement,
                    note: .init(event: "looked_up", detail: "\(platform.rawValue): as the store has it")))
        // `no` proves nothing: the query may be wrong, or made with the wrong account.
        case .no: return .nothing
        case .ended, .unknown:
            // Cleeng has granted this purchase. If the store never sent a statement about it, the query may have a
            // wrong id.
            guard subscription.hasRenewalInfo else { return .nothing }
            return .stated(
                LedgerMessage(
                    subscription.name, .over(statedAt: subscription.updatedAt),
                    note: .init(event: "looked_up", detail: "\(platform.rawValue): the store does not know it")))
        case .notConfigured: return .nothing
        case .misconfigured, .tryAgain:
            logger.warning("a store cannot be asked now", metadata: ["store": "\(platform.rawValue)"])
            return .away
        }
    }

    /// Asks the store about a subscription's key. A one-time purchase requires its product too.
    ///
    /// - Parameters:
    ///   - bundleID: required to ask some stores (``PurchaseFields/detail``).
    ///   - productID: nil if unknown.
    func ask(
        _ key: TransactionID, of publisher: PublisherID, bundleID: BundleID?, productID: ProductID?
    ) async -> ExternalStoreAnswer {
        guard stores[publisher] != nil else { return .tryAgain(after: nil) }
        guard let query = Self.query(key, bundleID, productID) else { return .notConfigured }
        return await ask(query, of: publisher)
    }

    func ask(_ query: ExternalStoreQuery, of publisher: PublisherID) async -> ExternalStoreAnswer {
        guard let stores = stores[publisher] else { return .tryAgain(after: nil) }
        guard let store = stores[query.platform] else { return .notConfigured }
        return await store.find(query)
    }

    /// Acknowledges a granted purchase to its store.
    ///
    /// - Parameter purchase: as just read from the store.
    func acknowledge(_ purchase: ExternalSubscription, of publisher: PublisherID) async -> AcknowledgementAnswer {
        guard let query = Self.query(purchase.key, purchase.bundleID, purchase.productID),
            let store = stores[publisher]?[query.platform]
        else { return .tryAgain(after: nil) }
        return await store.acknowledge(query, purchase)
    }

    /// The query about a key. Nil for Apple's keys, and if the store requires a bundle id that is unknown.
    private static func query(
        _ key: TransactionID, _ bundleID: BundleID?, _ productID: ProductID?
    ) -> ExternalStoreQuery? {
        let platform = StorePlatform(subscriptionKey: key)
        guard let names = platform.receipt?.query, bundleID != nil || names.detail == nil else { return nil }
        return ExternalStoreQuery(
            platform, id: platform.name(ofKey: key).text, detail: bundleID, product: productID)
    }
}
