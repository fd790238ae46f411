import Postgres
public import RelayCore

extension CustomerStore {
    /// Bound of the customers counted after a page.
    static let mostCounted = 10_000

    /// A page of the publisher's customers with subscriptions, sorted by name, and the total. At most ``mostCounted``
    /// customers are counted after the page, so a larger total is a lower bound.
    public func list(
        of publisher: PublisherID, limit: Int, skip: Int
    ) async throws -> (names: [CustomerName], total: Int) {
        // Index used: `subscriptions_username`; for the names it suffices alone. For each name of the page one row is
        // read.
        let names = try await database.query(
            """
            SELECT ROW(s.sealed_by, s.application_username) AS username
            FROM (
                SELECT DISTINCT s.application_username AS name
                FROM subscriptions s
                WHERE s.publisher = \(.text(publisher))
                ORDER BY s.application_username
                LIMIT \(.int8(Int64(limit))) OFFSET \(.int8(Int64(skip)))
            ) AS page
            CROSS JOIN LATERAL (
                SELECT s.sealed_by, s.application_username FROM subscriptions s
                WHERE s.publisher = \(.text(publisher)) AND s.application_username = page.name
                LIMIT 1
            ) AS s
            ORDER BY page.name
            """
        ).map { CustomerName(publisher: publisher, username: try $0.open("username")) }
        guard let last = names.last else {
            // The page is past the end, or there are no customers.
            return ([], skip == 0 ? 0 : try await count(of: publisher, after: ""))
        }
        guard names.count == limit else { return (names, skip + names.count) }
        return (names, skip + limit + (try await count(of: publisher, after: last.username)))
    }

    /// Counts at most ``mostCounted`` names. Index used: `subscriptions_username`.
    private func count(of publisher: PublisherID, after username: Username) async throws -> Int {
        try await database.query(
            """
            SELECT count(*)
            FROM (
                SELECT DISTINCT s.application_username
                FROM subscriptions s
                WHERE s.publisher = \(.text(publisher)) AND s.application_username > \(.privateText(username))
                ORDER BY s.application_username
                LIMIT \(.int8(Int64(Self.mostCounted)))
            ) AS names
            """
        ).first?.get(0) ?? 0
    }
}
