import RelayCore
import RelayStore

extension EventStore {
    /// Of the account that publishers share, and of each of `own`, up to `limit`.
    func claim(own: [PublisherID] = [], limit: Int, lease: Duration) async throws -> [ClaimedEvent] {
        let accounts: [PublisherID?] = [nil] + own
        return try await claim(Dictionary(uniqueKeysWithValues: accounts.map { ($0, limit) }), lease: lease)
    }
}
