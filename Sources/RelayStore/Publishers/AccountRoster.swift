import NIOConcurrencyHelpers
public import RelayCore

/// Who has an account of their own as the database has it: what copies that were configured differently agree on. What workers
/// take up is held against the database itself; this is a moment old, for all else that is done for a publisher.
public final class AccountRoster: Sendable {
    private let publishers = NIOLockedValueBox<Set<PublisherID>>([])

    public init() {}

    /// False, too, as long as nothing was read.
    public func hasOwn(_ publisher: PublisherID) -> Bool { publishers.withLockedValue { $0.contains(publisher) } }

    /// Reads it anew.
    ///
    /// - Returns: what it says now.
    @discardableResult
    public func read(_ store: RelayStore) async throws -> Set<PublisherID> {
        let now = Set(try await store.ownAccounts())
        publishers.withLockedValue { $0 = now }
        return now
    }
}
