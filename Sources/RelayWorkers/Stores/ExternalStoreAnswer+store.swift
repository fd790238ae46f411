import RelayCore
import StoreAPI

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
