/// One statement and its parameters, `$1` being the first.
public struct PostgresQuery: Sendable {
    public let sql: String
    public let parameters: [PostgresValue]

    public init(_ sql: String, _ parameters: [PostgresValue] = []) {
        self.sql = sql
        self.parameters = parameters
    }
}
