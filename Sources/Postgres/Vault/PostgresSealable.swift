/// A type that a sealed column can be read as: `String`, `[UInt8]`, and optionals of both.
public protocol PostgresSealable {
    /// - Throws: ``PostgresError``.
    static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Self
}

extension String: PostgresSealable {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> String {
        guard let text = String(validating: try vault.open(text: try value.bytes(of: .text, .varchar)), as: UTF8.self)
        else { throw PostgresError(.decoding, "the text is not UTF-8") }
        return text
    }
}

extension Array: PostgresSealable where Element == UInt8 {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> [UInt8] {
        try vault.open(bytes: try value.bytes(of: .bytea))
    }
}

extension Optional: PostgresSealable where Wrapped: PostgresSealable {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Wrapped? {
        value.bytes == nil ? nil : try Wrapped.open(value, vault)
    }
}
