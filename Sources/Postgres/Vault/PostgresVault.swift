/// Keeps columns unreadable in the database: private values are sealed before they leave the process, and opened where they are read.
///
/// Its calls come from many threads, often, and must not wait.
public protocol PostgresVault: Sendable {
    /// How private values are written from now on. A statement writes all of its values by one seal.
    ///
    /// - Throws: ``PostgresError``; ``PostgresError/Code/locked`` where it cannot be done yet.
    func seal() throws -> any PostgresSeal

    /// - Parameters:
    ///   - text: as it is stored.
    ///   - key: what the row says; see ``KeyedValue/sealedBy``.
    /// - Throws: as ``seal()``; ``PostgresError/Code/decoding`` for what was not sealed by that key.
    func open(text: UnsafeRawBufferPointer, sealedBy key: Int32?) throws -> [UInt8]

    func open(bytes: UnsafeRawBufferPointer, sealedBy key: Int32?) throws -> [UInt8]

    /// Whether a column may be read by opening it alone.
    ///
    /// - Parameters:
    ///   - table: the object identifier of a table.
    ///   - column: its number there.
    func isPrivate(table: UInt32, column: Int32) -> Bool
}

/// The keys that private values are sealed by. They go into the row, beside the values.
public protocol PostgresSeal: Sendable {
    /// 0: texts are stored as they are.
    var textKey: Int32 { get }
    /// 0: bytes are stored as they are.
    var byteKey: Int32 { get }

    /// Equal texts give equal results, so that columns can be compared, joined and indexed.
    ///
    /// - Parameter text: UTF-8.
    func seal(text: [UInt8]) throws -> [UInt8]

    /// Equal bytes need not give equal results.
    func seal(bytes: [UInt8]) throws -> [UInt8]
}

/// Stores everything as it is.
public struct NoVault: PostgresVault, PostgresSeal {
    public init() {}

    public var textKey: Int32 { 0 }
    public var byteKey: Int32 { 0 }

    public func seal() -> any PostgresSeal { self }
    public func seal(text: [UInt8]) -> [UInt8] { text }
    public func seal(bytes: [UInt8]) -> [UInt8] { bytes }
    public func open(text: UnsafeRawBufferPointer, sealedBy key: Int32?) -> [UInt8] { [UInt8](text) }
    public func open(bytes: UnsafeRawBufferPointer, sealedBy key: Int32?) -> [UInt8] { [UInt8](bytes) }
    public func isPrivate(table: UInt32, column: Int32) -> Bool { false }
}
