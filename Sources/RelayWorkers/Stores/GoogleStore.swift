public import GooglePlay
public import RelayCore
import StoreAPI

/// Google Play as a source of subscription status.
public struct GoogleStore: ExternalStore {
    private let client: GooglePlayClient
    private let acknowledges: Bool
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - acknowledges: false leaves acknowledgement to the app.
    ///   - now: time of statements.
    public init(client: GooglePlayClient, acknowledges: Bool, now: @escaping @Sendable () -> Timestamp) {
        self.client = client
        self.acknowledges = acknowledges
        self.now = now
    }

    public func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer {
        guard case .google(let packageName, let product, let token) = query else { return .notConfigured }
        let readAt = now()
        var answer = await client.subscription(token: token, packageName: packageName, readAt: readAt)
        // Google has a separate call for one-time products. If neither call finds the purchase, the first answer gives
        // the reason.
        if case .notAPurchase(let why) = answer, !product.isEmpty {
            answer = await client.product(
                ProductID(product), token: token, packageName: packageName, readAt: readAt)
            if case .notAPurchase = answer { answer = .notAPurchase(why) }
        }
        return ExternalStoreAnswer(
            answer, asked: packageName, store: StorePlatform.google.title, acknowledges: acknowledges)
    }

    public func acknowledge(
        _ query: ExternalStoreQuery, _ purchase: ExternalSubscription
    ) async -> AcknowledgementAnswer {
        guard case .google(let packageName, _, let token) = query, let kind = purchase.awaitsAcknowledgement,
            let productID = purchase.productID
        else { return .done }
        switch await client.acknowledge(kind, productID, token: token, packageName: packageName) {
        case .found: return .done
        case .notAPurchase(let word): return .refused(word)
        case .misconfigured(let why): return .misconfigured(why)
        case .tryAgain(_, let pause): return .tryAgain(after: pause)
        }
    }
}
