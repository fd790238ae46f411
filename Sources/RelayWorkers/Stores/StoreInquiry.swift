public import Logging
public import RelayCore
import RelayStore
import StoreAPI

/// What a store said of a subscription.
enum StoreStatement: Sendable {
    /// The statement for the ledger.
    case stated(LedgerMessage)
    /// The store has nothing to say of it.
    case nothing
    /// It cannot be asked now.
    case away
}

/// Asks the other stores how a subscription of theirs stands.
public struct StoreInquiry: Sendable {
    private let stores: PerPublisher<[StorePlatform: any ExternalStore]>
    private let logger: Logger

    public init(stores: PerPublisher<[StorePlatform: any ExternalStore]>, logger: Logger) {
        self.stores = stores
        self.logger = logger
    }

    /// The stores that some account of this copy can ask.
    var platforms: Set<StorePlatform> { stores.all.reduce(into: []) { $0.formUnion($1.keys) } }

    func canAsk(_ platform: StorePlatform, of publisher: PublisherID) -> Bool { stores[publisher]?[platform] != nil }

    func ask(about subscription: LedgerResult) async -> StoreStatement {
        let key = subscription.name.originalTransactionID
        let platform = StorePlatform(subscriptionKey: key)
        let answer = await ask(
            key, of: subscription.name.publisher, bundleID: subscription.bundleID,
            productID: subscription.standing?.productID)
        switch answer {
        case .found(let found):
            // Of what was posted by a renewal's name, while Roku could not be asked, Roku tells under the original one.
            let one = found.first { $0.key == key } ?? (platform.namesRenewals ? found.first : nil)
            guard let word = one?.word else { return .nothing }
            return .stated(
                LedgerMessage(
                    subscription.name, word,
                    note: .init(event: "looked_up", detail: "\(platform.rawValue): as the store has it")))
        // It is about what was asked: it may have been asked in a wrong way, or by a wrong account.
        case .no: return .nothing
        case .ended, .unknown:
            // Cleeng has granted on it: a store that has never said anything of it may have been asked by a wrong name.
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

    /// Asks the store of a subscription's key. What was bought once is found by its product too.
    ///
    /// - Parameters:
    ///   - bundleID: by which the store finds it; Google and Amazon are not asked without.
    ///   - productID: nil where it is not known.
    func ask(
        _ key: TransactionID, of publisher: PublisherID, bundleID: BundleID?, productID: ProductID?
    ) async -> ExternalStoreAnswer {
        guard let stores = stores[publisher] else { return .tryAgain(after: nil) }
        guard let query = Self.query(key, bundleID, productID), let store = stores[query.platform] else {
            return .notConfigured
        }
        return await store.find(query)
    }

    /// Tells the store that a purchase was granted.
    ///
    /// - Parameter purchase: as the store has just shown it.
    func acknowledge(_ purchase: ExternalSubscription, of publisher: PublisherID) async -> AcknowledgementAnswer {
        guard let query = Self.query(purchase.key, purchase.bundleID, purchase.productID),
            let store = stores[publisher]?[query.platform]
        else { return .tryAgain(after: nil) }
        return await store.acknowledge(query, purchase)
    }

    /// Nil for Apple's, which have ways of their own.
    private static func query(
        _ key: TransactionID, _ bundleID: BundleID?, _ productID: ProductID?
    ) -> ExternalStoreQuery? {
        let platform = StorePlatform(subscriptionKey: key)
        let name = platform.name(ofKey: key).text
        return switch platform {
        case .google:
            bundleID.map { .google(packageName: $0, subscriptionID: productID?.text ?? "", token: name) }
        case .amazon: bundleID.map { .amazon(receiptID: name, userID: $0.text) }
        case .roku: .roku(transactionID: name)
        case .apple: nil
        }
    }
}

extension ExternalStoreAnswer {
    /// - Parameters:
    ///   - asked: what it took to ask beside the purchase's own name; nil for nothing.
    ///   - store: as a publisher reads it.
    ///   - acknowledges: whether the store wants an acknowledgement of a grant.
    init(_ answer: StoreAnswer<StoreSubscription>, asked: BundleID?, store: String, acknowledges: Bool = false) {
        switch answer {
        case .found(let purchase):
            // What is used up, or of which too little is said, is a purchase all the same.
            guard let word = purchase.ledgerWord ?? (purchase.state.isPurchase ? LedgerStatement() : nil) else {
                self = .no("\(store) has no paid subscription by that name: it is \(purchase.state.rawValue)")
                return
            }
            self = .found([
                ExternalSubscription(
                    key: purchase.ledgerKey, environment: purchase.environment, word: word, bundleID: asked,
                    productID: purchase.productID, isTrial: purchase.isTrial,
                    isSubscription: purchase.kind == .subscription,
                    awaitsAcknowledgement: acknowledges && purchase.isAcknowledged == false
                        ? purchase.kind == .subscription ? .subscription : .product : nil,
                    accountToken: purchase.accountToken)
            ])
        case .notAPurchase("gone"): self = .ended("\(store) says that it is over, and nothing more of it")
        case .notAPurchase(let word): self = .no("\(store) says no: \(word)")
        case .misconfigured(let why): self = .misconfigured(why)
        case .tryAgain(_, let retryAfter): self = .tryAgain(after: retryAfter)
        }
    }
}
