import Postgres
public import RelayCore

/// A customer as the publisher calls them. Names are compared exactly.
public struct CustomerName: Sendable, Hashable {
    public var publisher: PublisherID
    public var username: Username

    public init(publisher: PublisherID, username: Username) {
        self.publisher = publisher
        self.username = username
    }

    public var bucket: Bucket { Bucket(of: publisher, username) }
}

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
