import NIOConcurrencyHelpers
import Postgres
public import RelayCore

/// Cached list of publishers with their own account, read from the database, so that differently configured copies
/// agree. Claims check the database itself.
public final class AccountRoster: Sendable {
    private let publishers = NIOLockedValueBox<Set<PublisherID>?>(nil)

    public init() {}

    /// Whether the publisher has its own account. True until the list is read: the common one must not be misused.
    public func hasOwn(_ publisher: PublisherID) -> Bool {
        publishers.withLockedValue { $0?.contains(publisher) ?? true }
    }

    var isRead: Bool { publishers.withLockedValue { $0 != nil } }

    /// Reads the list.
    @discardableResult
    public func read(_ store: RelayStore) async throws -> Set<PublisherID> {
        let now = Set(try await store.publishers.ownAccounts())
        publishers.withLockedValue { $0 = now }
        return now
    }
}

extension PublisherStore {
    /// Reads the list of own accounts unless it was read before.
    public func accountsReady() async throws {
        if !memory.accounts.isRead { try await memory.accounts.read(relay) }
    }

    /// Records that these publishers have their own accounts. From now on, copies without those accounts leave their
    /// work alone.
    ///
    /// - Returns: publishers that were not recorded before.
    public func adoptAccounts(of publishers: some Sequence<PublisherID>) async throws -> [PublisherID] {
        // The same order in all copies, to avoid deadlocks.
        try await ids(
            """
            INSERT INTO own_accounts (publisher)
            SELECT i.publisher FROM \(["publisher": .textArray(publishers.sorted())], as: "i")
            ON CONFLICT DO NOTHING
            RETURNING publisher
            """
        ).sorted()
    }

    /// Publishers with their own account, whichever copies have it.
    public func ownAccounts() async throws -> [PublisherID] {
        try await ids("SELECT publisher FROM own_accounts ORDER BY publisher LIMIT 10000")
    }

    /// Ids among these that do not belong to any publisher.
    public func strangers(among publishers: some Sequence<PublisherID>) async throws -> [PublisherID] {
        try await ids(
            """
            SELECT i.publisher FROM \(["publisher": .textArray(Array(publishers))], as: "i")
            WHERE i.publisher <> \(.text(PublisherID.first)) AND NOT EXISTS (SELECT FROM publishers p WHERE p.id = i.publisher)
            ORDER BY i.publisher
            """)
    }

    /// Returns a publisher to the common account.
    ///
    /// - Returns: whether it had its own account.
    public func forgetAccount(of publisher: PublisherID) async throws -> Bool {
        try await database.query("DELETE FROM own_accounts WHERE publisher = \(.text(publisher))").affectedRows == 1
    }

    private func ids(_ publishers: SQL) async throws -> [PublisherID] {
        try await database.query(publishers).map { try $0.get("publisher") }
    }
}
