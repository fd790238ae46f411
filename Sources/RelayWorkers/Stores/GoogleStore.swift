public import GooglePlay
public import RelayCore
import StoreAPI

/// Google Play, as those ask it who have to know how a subscription stands.
public struct GoogleStore: ExternalStore {
    private let client: GooglePlayClient
    private let now: @Sendable () -> Timestamp

    /// - Parameter now: the time by which what is read is dated.
    public init(client: GooglePlayClient, now: @escaping @Sendable () -> Timestamp) {
        self.client = client
        self.now = now
    }

    public func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer {
        guard case .google(let packageName, let product, let token) = query else { return .notConfigured }
        let readAt = now()
        let answer = await client.subscription(token: token, packageName: packageName)
        // What was bought once is another kind of thing there.
        if case .notAPurchase = answer, !product.isEmpty {
            let once = await client.product(ProductID(product), token: token, packageName: packageName)
            if case .notAPurchase = once {
            } else {
                return ExternalStoreAnswer(once, asked: packageName, store: Self.name) {
                    $0.subscription(readAt: readAt)
                }
            }
        }
        return ExternalStoreAnswer(answer, asked: packageName, store: Self.name) { $0.subscription(readAt: readAt) }
    }

    private static let name = "Google Play"
}
