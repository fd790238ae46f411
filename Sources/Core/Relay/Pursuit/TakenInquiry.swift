import NIOConcurrencyHelpers
import RelayCore

/// Asks stores what a purchase could take from other customers, because they did not answer when it was posted.
///
/// One store's questions take a part of an account's pursuits at most, so that a slow store delays no other purchase.
final class TakenInquiry: Sendable {
    enum Answer: Sendable, Equatable {
        /// Everything that the purchase could take; empty if the store denies it, or no access to the store is set.
        case names([SubscriptionName])
        /// Why, for the timeline, and the pause that the store asks for.
        case unanswered(String, retryAfter: Duration?)
    }

    private let stores: StoreInquiry
    private let places = NIOLockedValueBox(SharedPlaces<StorePlatform>(total: 96, each: 32, reserved: 0))

    init(_ stores: StoreInquiry) { self.stores = stores }

    /// - Parameter key: the purchase's key, as it was posted.
    func ask(_ proof: StoredPurchase.Proof, _ key: TransactionID, of publisher: PublisherID) async -> Answer {
        guard let query = proof.query else { return .names([]) }
        let store = query.platform
        guard places.withLockedValue({ $0.enter(store) }) else {
            return .unanswered("too many purchases wait for \(store.title)", retryAfter: nil)
        }
        defer { places.withLockedValue { $0.leave(store) } }
        switch await stores.ask(query, of: publisher) {
        case .found(let found): return .names(found.purchase(key)?.names(of: publisher) ?? [])
        case .no, .ended, .unknown, .notConfigured: return .names([])
        case .misconfigured(let why):
            return .unanswered("\(store.title) refuses this relay (\(store.accessSetting)): \(why)", retryAfter: nil)
        case .tryAgain(let pause): return .unanswered("\(store.title) cannot be asked now", retryAfter: pause)
        }
    }
}
