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

/// A private value as its row has it: the column, and what the row says of it. Statements select it as `ROW(t.sealed_by, t.column)`.
///
/// Such a pair is no text and no bytes, and ``PostgresRow/get(_:as:)-(Int,_)`` refuses the bare column: a reader that forgets to open it
/// fails the first time it runs, in every database, sealed or not.
public struct KeyedValue {
    /// The key that the value is sealed by; 0 where it is stored as it is. Nil in a row whose writer did not say.
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

/// A type that a private column can be read as. It is no ``PostgresDecodable``, so that it cannot be read without opening it.
public protocol PostgresSealable {
    /// - Parameters:
    ///   - value: what ``KeyedValue`` is read from.
    ///   - vault: opens what is sealed.
    /// - Throws: ``PostgresError``.
    static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Self
}

extension Optional: PostgresSealable where Wrapped: PostgresSealable {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Wrapped? {
        try value.bytes == nil || KeyedValue(value).stored.bytes == nil ? nil : try Wrapped.open(value, vault)
    }
}

extension KeyedValue {
    /// - Throws: ``PostgresError``; ``PostgresError/Code/decoding`` where it is no text.
    public func text(_ vault: any PostgresVault) throws -> String {
        let text = try vault.open(text: try stored.bytes(of: .text, .varchar), sealedBy: sealedBy)
        guard let text = String(validating: text, as: UTF8.self) else {
            throw PostgresError(.decoding, "the text is not UTF-8")
        }
        return text
    }

    /// - Throws: as ``text(_:)``.
    public func bytes(_ vault: any PostgresVault) throws -> [UInt8] {
        try vault.open(bytes: try stored.bytes(of: .bytea), sealedBy: sealedBy)
    }
}

/// Values of columns that a ``PostgresVault`` seals. Where one is compared with such a column, it has to be private too.
///
/// A statement that writes one into a row writes the key into the row's `sealed_by` too: ``keyOfTexts`` or ``keyOfBytes``.
extension PostgresValue {
    /// The number of the key that the statement's private texts are sealed by; 0 where they are stored as they are.
    public static let keyOfTexts = PostgresValue(.int4, .textKey)

    /// The same of its private bytes.
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
