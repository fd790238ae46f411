public import Logging
public import RelayCore
import RelayStore

/// Asks the other stores how a subscription of theirs stands.
public struct StoreInquiry: Sendable {
    private let stores: [StorePlatform: any ExternalStore]
    private let logger: Logger

    public init(stores: [StorePlatform: any ExternalStore], logger: Logger) {
        self.stores = stores
        self.logger = logger
    }

    func canAsk(_ platform: StorePlatform) -> Bool { stores[platform] != nil }

    /// - Returns: what the ledger is to hear; nil where the store cannot be asked now.
    func ask(about subscription: HeardSubscription) async -> LedgerMessage? {
        let key = subscription.name.originalTransactionID
        let platform = StorePlatform(subscriptionKey: key)
        guard let store = stores[platform], let asked = subscription.bundleID else { return nil }
        let name = platform.name(ofKey: key)
        let query: ExternalStoreQuery
        switch platform {
        case .google: query = .google(packageName: asked, subscriptionID: "", token: name)
        case .amazon: query = .amazon(receiptID: name, userID: asked)
        case .apple: return nil
        }
        switch await store.find(query) {
        case .found(let found):
            guard let word = found.first(where: { $0.key == key })?.word else { return nil }
            return LedgerMessage(
                subscription.name, word,
                note: .init(event: "looked_up", detail: "\(platform.rawValue): as the store has it"))
        case .no(let why):
            return LedgerMessage(
                subscription.name, LedgerWord(end: LedgerEnd(isOver: true, toldAt: subscription.heardAt)),
                note: .init(event: "looked_up", detail: why))
        case .unknown:
            return LedgerMessage(
                subscription.name, LedgerWord(end: LedgerEnd(isOver: true, toldAt: subscription.heardAt)),
                note: .init(event: "looked_up", detail: "\(platform.rawValue): unknown"))
        case .notConfigured: return nil
        case .tryAgain:
            logger.warning("a store cannot be asked now", metadata: ["store": "\(platform.rawValue)"])
            return nil
        }
    }
}
