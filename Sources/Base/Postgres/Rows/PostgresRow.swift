/// One row of a result.
public struct PostgresRow: Sendable {
    let result: QueryResult
    let index: Int
    let vault: any PostgresVault

    /// The value of a column; the first has number 0.
    ///
    /// - Throws: ``PostgresError/Code/decoding`` if the column is missing or private. Also if it is NULL and `T` is
    ///   not optional, or if its type or value does not fit `T`.
    public func get<T: PostgresDecodable>(_ column: Int, as type: T.Type = T.self) throws -> T {
        try read(column) { value in
            if value.type == .text || value.type == .bytea { try checkIsNotPrivate(column) }
            return try T.decode(value)
        }
    }

    private func checkIsNotPrivate(_ column: Int) throws {
        let origin = result.origin(ofColumn: column)
        guard origin.table == 0 || !vault.isPrivate(table: origin.table, column: origin.column) else {
            throw PostgresError(.decoding, "a private column is selected with its row's `sealed_by`, and opened")
        }
    }

    /// The value of a private column, selected as ``KeyedValue`` describes.
    ///
    /// - Throws: like ``get(_:as:)-(Int,_)``; errors of the vault.
    public func open<T: PostgresSealable>(_ column: Int, as type: T.Type = T.self) throws -> T {
        try read(column) { try T.open($0, vault) }
    }

    private func read<T>(_ column: Int, _ decode: (PostgresBinary) throws -> T) throws -> T {
        guard index >= 0, index < result.rows, column >= 0, column < result.columns else {
            throw PostgresError(.decoding, "the result has no row \(index) or no column \(column)")
        }
        guard result.isBinary(column) else { throw PostgresError(.decoding, "column \(column) is not in binary form") }
        do {
            // The bytes belong to the result. `self` keeps it alive only as long as the compiler sees a use.
            return try withExtendedLifetime(result) {
                try decode(
                    PostgresBinary(
                        type: result.type(ofColumn: column), bytes: result.bytes(row: index, column: column)))
            }
        } catch let error as PostgresError where error.code == .decoding {
            throw PostgresError(error.code, "column \(column): \(error.serverMessage)")
        }
    }

    /// The value of the first column with this name, spelled as the server does.
    ///
    /// - Throws: like the column's number; for a missing column, the error names it.
    public func get<T: PostgresDecodable>(_ column: StaticString, as type: T.Type = T.self) throws -> T {
        try get(index(of: column), as: type)
    }

    /// The value of the first private column with this name.
    public func open<T: PostgresSealable>(_ column: StaticString, as type: T.Type = T.self) throws -> T {
        try open(index(of: column), as: type)
    }

    private func index(of column: StaticString) throws -> Int {
        guard let index = result.column(named: column) else {
            throw PostgresError(.decoding, "the result has no column \(column)")
        }
        return index
    }
}

/// Rows that a statement returned. Values are decoded on access, on the accessing thread.
public struct PostgresRows: Sendable, RandomAccessCollection {
    let result: QueryResult
    let vault: any PostgresVault

    public var startIndex: Int { 0 }

    public var endIndex: Int { result.rows }

    public subscript(position: Int) -> PostgresRow { PostgresRow(result: result, index: position, vault: vault) }

    /// Rows written by an INSERT, UPDATE, DELETE or MERGE; rows returned by a SELECT; 0 for any other statement.
    public var affectedRows: Int { result.affectedRows }
}
