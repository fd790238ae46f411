/// One statement and its parameters, `$1` being the first.
public struct PostgresQuery: Sendable {
    public let sql: String
    public let parameters: [PostgresValue]
    /// The server plans it each time, for these parameters and for its tables as they are by then, and keeps nothing of it. For
    /// tables that are empty most of the time: a plan that is kept from such a time reads them from end to end when they are full.
    public let isPlannedAnew: Bool

    public init(_ sql: String, _ parameters: [PostgresValue] = [], isPlannedAnew: Bool = false) {
        self.sql = sql
        self.parameters = parameters
        self.isPlannedAnew = isPlannedAnew
    }
}
