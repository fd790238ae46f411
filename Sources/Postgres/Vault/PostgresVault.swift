/// Keeps columns unreadable in the database: what is private is sealed before it leaves the process, and opened where it is read.
///
/// Its calls come from many threads, often, and must not wait.
public protocol PostgresVault: Sendable {
    /// Equal texts give equal results, so that columns can be compared, joined and indexed.
    ///
    /// - Parameters: UTF-8.
    /// - Throws: ``PostgresError``; ``PostgresError/Code/locked`` where it cannot be done yet.
    func seal(text: [UInt8]) throws -> [UInt8]

    /// - Throws: as ``seal(text:)``; ``PostgresError/Code/decoding`` for what was not sealed with its keys.
    func open(text: UnsafeRawBufferPointer) throws -> [UInt8]

    /// Equal bytes need not give equal results.
    func seal(bytes: [UInt8]) throws -> [UInt8]

    func open(bytes: UnsafeRawBufferPointer) throws -> [UInt8]
}

/// Everything as it is.
public struct NoVault: PostgresVault {
    public init() {}

    public func seal(text: [UInt8]) -> [UInt8] { text }
    public func open(text: UnsafeRawBufferPointer) -> [UInt8] { [UInt8](text) }
    public func seal(bytes: [UInt8]) -> [UInt8] { bytes }
    public func open(bytes: UnsafeRawBufferPointer) -> [UInt8] { [UInt8](bytes) }
}
