public import Logging
public import RelayCore
import RelayStore
import StoreAPI

/// What a store said of a subscription.
enum StoreWord: Sendable {
    /// What the ledger is to hear.
    case told(LedgerMessage)
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

    func canAsk(_ platform: StorePlatform, of publisher: PublisherID) -> Bool { stores[publisher]?[platform] != nil }

    func ask(about subscription: HeardSubscription) async -> StoreWord {
        let key = subscription.name.originalTransactionID
        let platform = StorePlatform(subscriptionKey: key)
        guard let stores = stores[subscription.name.publisher] else { return .away }
        guard let store = stores[platform], let asked = subscription.bundleID else {
            return .nothing
        }
        let name = platform.name(ofKey: key)
        // Cleeng has granted on it: a store that has never said anything of it may have been asked by a wrong name.
        let isOver = LedgerWord(end: LedgerEnd(isOver: true, toldAt: subscription.heardAt))
        let query: ExternalStoreQuery
        switch platform {
        case .google: query = .google(packageName: asked, subscriptionID: "", token: name.text)
        case .amazon: query = .amazon(receiptID: name.text, userID: asked.text)
        case .apple: return .nothing
        }
        switch await store.find(query) {
        case .found(let found):
            guard let word = found.first(where: { $0.key == key })?.word else { return .nothing }
            return .told(
                LedgerMessage(
                    subscription.name, word,
                    note: .init(event: "looked_up", detail: "\(platform.rawValue): as the store has it")))
        case .no, .ended, .unknown:
            guard subscription.isTold else { return .nothing }
            return .told(
                LedgerMessage(
                    subscription.name, isOver,
                    note: .init(event: "looked_up", detail: "\(platform.rawValue): the store does not know it")))
        case .notConfigured: return .nothing
        case .tryAgain:
            logger.warning("a store cannot be asked now", metadata: ["store": "\(platform.rawValue)"])
            return .away
        }
    }
}

extension ExternalStoreAnswer {
    /// - Parameters:
    ///   - asked: what it took to ask beside the purchase's own name.
    ///   - store: as a publisher reads it.
    init<Value: Sendable>(
        _ answer: StoreAnswer<Value>, asked: BundleID, store: String, _ subscription: (Value) -> StoreSubscription
    ) {
        switch answer {
        case .found(let value):
            let told = subscription(value)
            // What is used up, or of which too little is said, is a purchase all the same.
            guard let word = told.ledgerWord ?? (told.state.isPurchase ? LedgerWord() : nil) else {
                self = .no("\(store) has no paid subscription by that name: it is \(told.state.rawValue)")
                return
            }
            self = .found([
                ExternalSubscription(
                    key: told.ledgerKey, environment: told.environment, word: word, bundleID: asked,
                    productID: told.productID, isTrial: told.isTrial)
            ])
        case .notAPurchase("gone"): self = .ended("\(store) says that it is over, and nothing more of it")
        case .notAPurchase(let word): self = .no("\(store) says no: \(word)")
        // Our own fault is passing trouble to whoever asks.
        case .misconfigured: self = .tryAgain(after: .seconds(60))
        case .tryAgain(_, let retryAfter): self = .tryAgain(after: retryAfter)
        }
    }
}
