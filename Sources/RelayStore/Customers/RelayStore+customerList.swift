import Postgres
public import RelayCore

extension RelayStore {
    /// Index used: `subscriptions_username`; for the names it is enough, and for each name of the page one row is read.
    private static let listSQL = """
        SELECT ROW(s.sealed_by, s.application_username)
        FROM (
            SELECT DISTINCT s.application_username AS name
            FROM subscriptions s
            WHERE s.publisher = $1
            ORDER BY s.application_username
            LIMIT $2 OFFSET $3
        ) AS page
        CROSS JOIN LATERAL (
            SELECT s.sealed_by, s.application_username FROM subscriptions s
            WHERE s.publisher = $1 AND s.application_username = page.name
            LIMIT 1
        ) AS s
        ORDER BY page.name
        """

    /// Index used: the same. It ends at so many names after the page, however many there are.
    private static let countSQL = """
        SELECT count(*)
        FROM (
            SELECT DISTINCT s.application_username
            FROM subscriptions s
            WHERE s.publisher = $1 AND s.application_username > $2
            ORDER BY s.application_username
            LIMIT $3
        ) AS names
        """

    /// Of customers after a page no more are counted.
    static let mostCounted = 10_000

    /// A page of a publisher's customers that own something, by name, and how many there are in all; no more than ``mostCounted`` are
    /// counted after the page, so that where there are more of them it is less than all, and more than was told of so far.
    public func customers(
        of publisher: PublisherID, limit: Int, skip: Int
    ) async throws -> (names: [CustomerName], total: Int) {
        let names = try await pool.query(
            PostgresQuery(Self.listSQL, [.text(publisher), .int8(Int64(limit)), .int8(Int64(skip))])
        ).map { CustomerName(publisher: publisher, username: try $0.open(0)) }
        guard let last = names.last else {
            // Behind the end, or there are none.
            return ([], skip == 0 ? 0 : try await count(of: publisher, after: ""))
        }
        guard names.count == limit else { return (names, skip + names.count) }
        return (names, skip + limit + (try await count(of: publisher, after: last.username)))
    }

    private func count(of publisher: PublisherID, after username: Username) async throws -> Int {
        try await pool.query(
            PostgresQuery(
                Self.countSQL, [.text(publisher), .privateText(username), .int8(Int64(Self.mostCounted))])
        ).first?.get(0) ?? 0
    }
}
