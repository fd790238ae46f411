import Postgres

extension RelayStore {
    /// Index used: `subscriptions_username`, alone.
    private static let listSQL = """
        SELECT DISTINCT s.application_username
        FROM subscriptions s
        WHERE s.publisher = $1
        ORDER BY s.application_username
        LIMIT $2 OFFSET $3
        """

    private static let countSQL = """
        SELECT count(*) FROM (SELECT DISTINCT s.application_username FROM subscriptions s WHERE s.publisher = $1) AS names
        """

    /// A page of a publisher's customers that own something, by name, and how many there are in all.
    public func customers(
        of publisher: String, limit: Int, skip: Int
    ) async throws -> (names: [CustomerName], total: Int) {
        async let page = pool.query(
            PostgresQuery(
                Self.listSQL, [.text(publisher), .int8(Int64(limit)), .int8(Int64(skip))]))
        let total: Int = try await pool.query(PostgresQuery(Self.countSQL, [.text(publisher)])).first?.get(0) ?? 0
        return (try await page.map { CustomerName(publisher: publisher, username: try $0.get(0)) }, total)
    }
}
