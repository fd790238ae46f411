import Foundation

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

    /// By bytes: Swift holds two spellings of one letter for the same, the server does not.
    static func == (left: StatementKey, right: StatementKey) -> Bool {
        guard left.hash == right.hash, left.types == right.types else { return false }
        var (one, other) = (left.sql, right.sql)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard one.count == other.count, let left = one.baseAddress, let right = other.baseAddress else {
                    return one.count == other.count
                }
                return memcmp(left, right, one.count) == 0
            }
        }
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
