public import RelayCore
import StoreAPI

/// The Amazon Appstore as a source of subscription status.
public struct AmazonStore: ExternalStore {
    private let client: AmazonReceiptClient
    private let now: @Sendable () -> Timestamp

    /// - Parameter now: time of statements.
    public init(client: AmazonReceiptClient, now: @escaping @Sendable () -> Timestamp) {
        self.client = client
        self.now = now
    }

    public func find(_ query: ExternalStoreQuery) async -> ExternalStoreAnswer {
        guard query.platform == .amazon, let user = query.detail else { return .notConfigured }
        return await ExternalStoreAnswer(
            client.receipt(query.id, userID: user.text, readAt: now()), asked: user, store: query.platform.title)
    }
}
