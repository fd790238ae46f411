/// Keeps columns unreadable in the database: private values are sealed before they leave the process, and opened when
/// read.
///
/// Its methods are called often, from many threads, and must not wait.
public protocol PostgresVault: Sendable {
    /// Returns the seal for new private values. A statement uses one seal for all of its values.
    ///
    /// - Throws: ``PostgresError``; ``PostgresError/Code/locked`` if the vault is not open yet.
    func seal() throws -> any PostgresSeal

    /// - Parameters:
    ///   - text: the stored bytes.
    ///   - key: the row's key; see ``KeyedValue/sealedBy``.
    /// - Throws: like ``seal()``; ``PostgresError/Code/decoding`` if that key did not seal the text.
    func open(text: UnsafeRawBufferPointer, sealedBy key: Int32?) throws -> [UInt8]

    func open(bytes: UnsafeRawBufferPointer, sealedBy key: Int32?) throws -> [UInt8]

    /// Whether a column can be read only by opening it.
    ///
    /// - Parameters:
    ///   - table: the table's object identifier.
    ///   - column: the column's number in the table.
    func isPrivate(table: UInt32, column: Int32) -> Bool
}

/// Keys with which private values are sealed. Their numbers are stored in the row, beside the values.
public protocol PostgresSeal: Sendable {
    /// 0: texts are stored unsealed.
    var textKey: Int32 { get }
    /// 0: bytes are stored unsealed.
    var byteKey: Int32 { get }

    /// Seals a text. Equal texts give equal results, so that columns can be compared, joined and indexed.
    ///
    /// - Parameter text: UTF-8.
    func seal(text: [UInt8]) throws -> [UInt8]

    /// Seals bytes. Equal bytes need not give equal results.
    func seal(bytes: [UInt8]) throws -> [UInt8]
}

/// Stores everything unsealed.
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

/// A private value as stored: the column, and the row's key. Statements select it as `ROW(t.sealed_by, t.column)`.
///
/// Such a pair is neither text nor bytes, and ``PostgresRow/get(_:as:)-(Int,_)`` refuses the bare column. Code that
/// forgets to open it therefore fails on its first run, in every database, sealed or not.
public struct KeyedValue {
    /// Key of the value; 0 if it is stored unsealed. Nil in a row whose writer recorded none.
    public let sealedBy: Int32?
    public let stored: PostgresBinary

    /// Reads the binary form of a row of two columns (`record_send`).
    ///
    /// - Throws: ``PostgresError/Code/decoding``.
    public init(_ value: PostgresBinary) throws {
        var reader = BinaryReader(try value.bytes(of: .record))
        guard try reader.integer() == 2 else { throw PostgresError(.decoding, "not a key and a value") }
        sealedBy = try Int32?.decode(PostgresBinary(type: try reader.type(), bytes: try reader.value()))
        stored = PostgresBinary(type: try reader.type(), bytes: try reader.value())
    }
}

/// A type as which a private column can be read. It is not ``PostgresDecodable``, so it cannot be read without being
/// opened.
public protocol PostgresSealable {
    /// - Parameters:
    ///   - value: the binary form of a ``KeyedValue``.
    ///   - vault: opens sealed values.
    /// - Throws: ``PostgresError``.
    static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Self
}

extension Optional: PostgresSealable where Wrapped: PostgresSealable {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Wrapped? {
        try value.bytes == nil || KeyedValue(value).stored.bytes == nil ? nil : try Wrapped.open(value, vault)
    }
}

extension KeyedValue {
    /// - Throws: ``PostgresError``; ``PostgresError/Code/decoding`` if it is not text.
    public func text(_ vault: any PostgresVault) throws -> String {
        let text = try vault.open(text: try stored.bytes(of: .text, .varchar), sealedBy: sealedBy)
        guard let text = String(validating: text, as: UTF8.self) else {
            throw PostgresError(.decoding, "the text is not UTF-8")
        }
        return text
    }

    /// - Throws: like ``text(_:)``.
    public func bytes(_ vault: any PostgresVault) throws -> [UInt8] {
        try vault.open(bytes: try stored.bytes(of: .bytea), sealedBy: sealedBy)
    }
}

/// Values of columns that a ``PostgresVault`` seals. A value that is compared with such a column must be private too.
///
/// A statement that writes such a value also writes its key into the row's `sealed_by`: ``keyOfTexts`` or
/// ``keyOfBytes``.
extension PostgresValue {
    /// Number of the key for the statement's private texts; 0 if they are stored unsealed.
    public static let keyOfTexts = PostgresValue(.int4, .textKey)

    /// The same for its private bytes.
    public static let keyOfBytes = PostgresValue(.int4, .byteKey)

    public static func privateText(_ value: String?) -> PostgresValue {
        PostgresValue(.text, .text(value.map(BinaryFormat.text)))
    }

    public static func privateTextArray(_ elements: [String?]) -> PostgresValue {
        PostgresValue(.textArray, .texts(elements.map { $0.map(BinaryFormat.text) }))
    }

    public static func privateBytea(_ value: [UInt8]?) -> PostgresValue {
        PostgresValue(.bytea, .bytes(value))
    }

    public static func privateByteaArray(_ elements: [[UInt8]]) -> PostgresValue {
        PostgresValue(.byteaArray, .byteStrings(elements))
    }
}
