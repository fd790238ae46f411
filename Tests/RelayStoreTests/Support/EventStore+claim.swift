import Relay
import RelayCore

extension EventStore {
    /// Claims events of the shared account and of each account in `own`, up to `limit`.
    func claim(own: [PublisherID] = [], limit: Int, lease: Duration) async throws -> [ClaimedEvent] {
        let accounts: [PublisherID?] = [nil] + own
        return try await claim(Dictionary(uniqueKeysWithValues: accounts.map { ($0, limit) }), lease: lease)
    }
}
