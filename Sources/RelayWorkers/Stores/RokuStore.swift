public import RelayCore
public import RokuPay
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
        guard case .roku(let transactionID) = query else { return .notConfigured }
        return await ExternalStoreAnswer(
            client.transaction(transactionID, readAt: now()), asked: nil, store: StorePlatform.roku.title)
    }
}
