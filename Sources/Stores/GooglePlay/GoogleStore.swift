public import RelayCore
import StoreAPI

/// Google Play as a source of subscription status.
public struct GoogleStore: ExternalStore {
    public let client: GooglePlayClient
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
        guard query.platform == .google, let packageName = query.detail else { return .notConfigured }
        let readAt = now()
        var answer = await client.subscription(token: query.id, packageName: packageName, readAt: readAt)
        // Google has a separate call for one-time products. If neither call finds the purchase, the first answer gives
        // the reason.
        if case .notAPurchase(let why) = answer, let product = query.product, !product.isEmpty {
            answer = await client.product(product, token: query.id, packageName: packageName, readAt: readAt)
            if case .notAPurchase = answer { answer = .notAPurchase(why) }
        }
        return ExternalStoreAnswer(
            answer, asked: packageName, store: query.platform.title, acknowledges: acknowledges)
    }

    public func acknowledge(
        _ query: ExternalStoreQuery, _ purchase: ExternalSubscription
    ) async -> AcknowledgementAnswer {
        guard query.platform == .google, let packageName = query.detail, let kind = purchase.awaitsAcknowledgement,
            let productID = purchase.productID
        else { return .done }
        switch await client.acknowledge(kind, productID, token: query.id, packageName: packageName) {
        case .found: return .done
        case .notAPurchase(let word): return .refused(word)
        case .misconfigured(let why): return .misconfigured(why)
        case .tryAgain(_, let pause): return .tryAgain(after: pause)
        }
    }
}
