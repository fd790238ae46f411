import Postgres
public import RelayCore

extension CustomerStore {
    /// Most customers counted behind a page.
    static let mostCounted = 10_000

    /// A page of a publisher's customers that own something, by name, and the total. At most ``mostCounted`` are counted behind the page: a
    /// larger total is a lower bound.
    public func list(
        of publisher: PublisherID, limit: Int, skip: Int
    ) async throws -> (names: [CustomerName], total: Int) {
        // Index used: `subscriptions_username`, alone for the names. For each name of the page one row is read.
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
            // Behind the end, or there are none.
            return ([], skip == 0 ? 0 : try await count(of: publisher, after: ""))
        }
        guard names.count == limit else { return (names, skip + names.count) }
        return (names, skip + limit + (try await count(of: publisher, after: last.username)))
    }

    /// Index used: `subscriptions_username`. It ends after ``mostCounted`` names, however many there are.
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
