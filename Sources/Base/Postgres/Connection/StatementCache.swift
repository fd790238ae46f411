import Foundation

/// Prepared statements of one connection. Bounded: evicts the least recently used one.
struct StatementCache {
    enum Lookup: Equatable {
        case known(name: String)
        /// Must be prepared under this name; `evicted` must be deallocated.
        case new(name: String, evicted: String?)
    }

    private struct Entry {
        let name: String
        var lastUse: UInt64
    }

    private let capacity: Int
    private var entries: [StatementKey: Entry] = [:]
    private var clock: UInt64 = 0

    init(capacity: Int = 256) { self.capacity = capacity }

    var count: Int { entries.count }

    mutating func look(up key: StatementKey) -> Lookup {
        clock += 1
        if let name = entries[key]?.name {
            entries[key]?.lastUse = clock
            return .known(name: name)
        }
        let evicted = entries.count >= capacity ? entries.min { $0.value.lastUse < $1.value.lastUse } : nil
        if let evicted { entries[evicted.key] = nil }
        // Names are never reused, so a statement that could not be deallocated causes no conflict.
        let name = "s\(clock)"
        entries[key] = Entry(name: name, lastUse: clock)
        return .new(name: name, evicted: evicted?.value.name)
    }

    /// Removes the statement, unless it was prepared again under another name meanwhile.
    mutating func forget(_ key: StatementKey, name: String) {
        if entries[key]?.name == name { entries[key] = nil }
    }
}

/// Key of a prepared statement: its text and the types of its parameters.
///
/// The hash is computed once, where the query is encoded, and not on the event thread.
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

    /// Compares bytes: Swift treats canonically equivalent spellings as equal, the server does not.
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
