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
        guard case .google(let packageName, _, let token) = query else { return .notConfigured }
        let readAt = now()
        return await ExternalStoreAnswer(
            client.subscription(token: token, packageName: packageName), asked: packageName, store: "Google Play"
        ) { $0.subscription(readAt: readAt) }
    }
}
