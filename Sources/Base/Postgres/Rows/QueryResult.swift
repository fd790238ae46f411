import CLibPQ
import Foundation

/// Owns one `PGresult`.
final class QueryResult: Sendable {
    // A PGresult is read-only once libpq returns it, so any thread may read it (libpq manual, "Behavior in Threaded
    // Programs"). Only `deinit` changes it.
    nonisolated(unsafe) private let raw: OpaquePointer
    let rows: Int
    let columns: Int

    init(taking raw: OpaquePointer) {
        self.raw = raw
        self.rows = Int(PQntuples(raw))
        self.columns = Int(PQnfields(raw))
    }

    deinit { PQclear(raw) }

    /// Rows that an INSERT, UPDATE, DELETE or MERGE wrote, or a SELECT returned; 0 for other statements.
    var affectedRows: Int { PQcmdTuples(raw).flatMap { Int(String(cString: $0)) } ?? 0 }

    /// Tag such as `INSERT 0 3`.
    var commandTag: String { PQcmdStatus(raw).map { String(cString: $0) } ?? "" }

    /// The first column with this name.
    func column(named name: StaticString) -> Int? {
        // The bytes of a StaticString end with a zero.
        name.withUTF8Buffer { name in
            (0..<columns).first { column in
                guard let own = PQfname(raw, Int32(column)), let name = name.baseAddress else { return false }
                return strcmp(own, UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self)) == 0
            }
        }
    }

    func type(ofColumn column: Int) -> PostgresType { PostgresType(rawValue: PQftype(raw, Int32(column))) }

    /// Table and column number of a column selected unchanged from a table; zeros for any other.
    func origin(ofColumn column: Int) -> (table: UInt32, column: Int32) {
        (PQftable(raw, Int32(column)), PQftablecol(raw, Int32(column)))
    }

    func isBinary(_ column: Int) -> Bool { PQfformat(raw, Int32(column)) == 1 }

    /// Nil for NULL. The bytes belong to this result. `row` and `column` must be in range.
    func bytes(row: Int, column: Int) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(raw, Int32(row), Int32(column)) == 0 else { return nil }
        let count = Int(PQgetlength(raw, Int32(row), Int32(column)))
        return UnsafeRawBufferPointer(start: PQgetvalue(raw, Int32(row), Int32(column)), count: count)
    }
}
