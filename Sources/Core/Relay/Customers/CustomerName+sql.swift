import Postgres
import RelayCore

extension SQLTable {
    /// The keys of `customers`: `bucket`, `publisher`, `username`.
    static func customers(_ names: [CustomerName]) -> SQLTable {
        [
            "bucket": .int2Array(names.map { Int16($0.bucket.number) }),
            "publisher": .textArray(names.map(\.publisher)), "username": .privateTextArray(names.map(\.username)),
        ]
    }
}

extension PostgresRow {
    /// Reads the columns `publisher` and `username`, which is private.
    func customerName() throws -> CustomerName {
        CustomerName(publisher: try get("publisher"), username: try open("username"))
    }
}
