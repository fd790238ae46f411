/// What a prepared statement is known by: its text and the types of its parameters.
///
/// The hash is taken once, where the query is made ready, and not on the event thread.
struct StatementKey: Sendable, Hashable {
    let sql: String
    let types: [UInt32]
    private let hash: Int

    init(sql: String, types: [UInt32]) {
        self.sql = sql
        self.types = types
        var hasher = Hasher()
        hasher.combine(sql)
        hasher.combine(types)
        self.hash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
