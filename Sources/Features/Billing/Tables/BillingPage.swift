import Postgres
import Relay
import RelayCore

/// A page of a publisher's rows, in the order in which they were written.
struct BillingPage: Sendable {
    static let standard = 100
    static let most = 500

    var take: Int
    /// The last id of the previous page.
    var from: BillingID?

    init(take: Int = standard, from: BillingID? = nil) {
        self.take = take
        self.from = from
    }

    /// Condition, order and limit that select this page. If no row has the id `from`, its time of creation is the
    /// second encoded in the id.
    ///
    /// - Parameter row: the alias of the table in the statement.
    func rows(of publisher: PublisherID, in table: String, as row: String) -> SQL {
        let (row, id) = (SQL(unescaped: row), PostgresValue.text(from?.description ?? ""))
        return """
            \(row).publisher = \(.text(publisher)) AND (\(row).created_at, \(row).id) > (
                coalesce((
                    SELECT f.created_at FROM \(unescaped: table) f
                    WHERE f.bucket = \(.int2(from.map { Int16($0.bucket.number) })) AND f.id = \(id)
                      AND f.publisher = \(.text(publisher))
                ), \(.timestamptz((from?.madeAt ?? Timestamp(seconds: 0)).postgres))), \(id))
            ORDER BY \(row).created_at, \(row).id
            LIMIT \(.int4(Int32(clamping: take)))
            """
    }
}
