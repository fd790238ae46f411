import Postgres
public import RelayCore

extension RelayStore {
    private static let adoptSQL = """
        INSERT INTO own_accounts (publisher)
        SELECT publisher FROM unnest($1::text[]) AS i(publisher)
        ON CONFLICT DO NOTHING
        RETURNING publisher
        """

    private static let ownAccountsSQL = "SELECT publisher FROM own_accounts ORDER BY publisher LIMIT 10000"

    private static let strangersSQL = """
        SELECT publisher FROM unnest($1::text[]) AS i(publisher)
        WHERE publisher <> '\(PublisherID.first)' AND NOT EXISTS (SELECT FROM publishers p WHERE p.id = publisher)
        ORDER BY publisher
        """

    private static let forgetSQL = "DELETE FROM own_accounts WHERE publisher = $1"

    /// Writes that these publishers have accounts of their own: from now on copies without those leave their work alone.
    ///
    /// - Returns: those of which nobody had said so before.
    public func adoptAccounts(of publishers: some Sequence<PublisherID>) async throws -> [PublisherID] {
        // One order for all copies, that none waits for another in a ring.
        try await ids(Self.adoptSQL, [.textArray(publishers.sorted())]).sorted()
    }

    /// Publishers that have an account of their own, whichever copies have it.
    public func ownAccounts() async throws -> [PublisherID] { try await ids(Self.ownAccountsSQL, []) }

    /// Those of these ids that no publisher has.
    public func strangers(among publishers: some Sequence<PublisherID>) async throws -> [PublisherID] {
        try await ids(Self.strangersSQL, [.textArray(Array(publishers))])
    }

    /// Gives a publisher back to the common account.
    ///
    /// - Returns: whether it had one of its own.
    public func forgetAccount(of publisher: PublisherID) async throws -> Bool {
        try await pool.query(PostgresQuery(Self.forgetSQL, [.text(publisher)])).affectedRows == 1
    }

    private func ids(_ sql: String, _ parameters: [PostgresValue]) async throws -> [PublisherID] {
        try await pool.query(PostgresQuery(sql, parameters)).map { try $0.get(0) }
    }
}
