/// What a statement brought back. Values are decoded when they are asked for, on the thread that asks.
public struct PostgresRows: Sendable, RandomAccessCollection {
    let result: QueryResult
    let vault: any PostgresVault

    public var startIndex: Int { 0 }

    public var endIndex: Int { result.rows }

    public subscript(position: Int) -> PostgresRow { PostgresRow(result: result, index: position, vault: vault) }

    /// Rows written by an INSERT, UPDATE, DELETE or MERGE; rows returned by a SELECT; 0 for any other statement.
    public var affectedRows: Int { result.affectedRows }
}
