import NIOConcurrencyHelpers
import Postgres
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

extension RelayStore {
    /// Writes that these publishers have accounts of their own: from now on copies without those leave their work alone.
    ///
    /// - Returns: those of which nobody had said so before.
    public func adoptAccounts(of publishers: some Sequence<PublisherID>) async throws -> [PublisherID] {
        // One order for all copies, that none waits for another in a ring.
        try await ids(
            """
            INSERT INTO own_accounts (publisher)
            SELECT i.publisher FROM \(["publisher": .textArray(publishers.sorted())], as: "i")
            ON CONFLICT DO NOTHING
            RETURNING publisher
            """
        ).sorted()
    }

    /// Publishers that have an account of their own, whichever copies have it.
    public func ownAccounts() async throws -> [PublisherID] {
        try await ids("SELECT publisher FROM own_accounts ORDER BY publisher LIMIT 10000")
    }

    /// Those of these ids that no publisher has.
    public func strangers(among publishers: some Sequence<PublisherID>) async throws -> [PublisherID] {
        try await ids(
            """
            SELECT i.publisher FROM \(["publisher": .textArray(Array(publishers))], as: "i")
            WHERE i.publisher <> \(.text(PublisherID.first)) AND NOT EXISTS (SELECT FROM publishers p WHERE p.id = i.publisher)
            ORDER BY i.publisher
            """)
    }

    /// Gives a publisher back to the common account.
    ///
    /// - Returns: whether it had one of its own.
    public func forgetAccount(of publisher: PublisherID) async throws -> Bool {
        try await pool.query("DELETE FROM own_accounts WHERE publisher = \(.text(publisher))").affectedRows == 1
    }

    private func ids(_ publishers: SQL) async throws -> [PublisherID] {
        try await pool.query(publishers).map { try $0.get("publisher") }
    }
}
