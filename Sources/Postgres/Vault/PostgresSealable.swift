/// A type that a private column can be read as. It is no ``PostgresDecodable``, so that it cannot be read without opening it.
public protocol PostgresSealable {
    /// - Parameter value: what ``KeyedValue`` is read from.
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
