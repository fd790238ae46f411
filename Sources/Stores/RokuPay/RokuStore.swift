public import RelayCore
import StoreAPI

/// Roku Pay as a source of subscription status.
public struct RokuStore: ExternalStore {
    private let client: RokuTransactionClient
    private let now: @Sendable () -> Timestamp

    /// - Parameter now: time of statements.
    public init(client: RokuTransactionClient, now: @escaping @Sendable () -> Timestamp) {
        self.client = client
        self.now = now
    }

    public func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer {
        guard query.platform == .roku else { return .notConfigured }
        return await ExternalStoreAnswer(
            client.transaction(query.id, readAt: now()), asked: nil, store: query.platform.title)
    }
}
