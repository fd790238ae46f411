/// A type that a private column can be read as: `String`, `[UInt8]`, and optionals of both.
public protocol PostgresSealable {
    /// - Parameter value: what ``PrivateValue`` is read from.
    /// - Throws: ``PostgresError``.
    static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Self
}

extension String: PostgresSealable {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> String {
        let value = try PrivateValue(value)
        let text = try vault.open(text: try value.stored.bytes(of: .text, .varchar), sealedBy: value.sealedBy)
        guard let text = String(validating: text, as: UTF8.self) else {
            throw PostgresError(.decoding, "the text is not UTF-8")
        }
        return text
    }
}

extension Array: PostgresSealable where Element == UInt8 {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> [UInt8] {
        let value = try PrivateValue(value)
        return try vault.open(bytes: try value.stored.bytes(of: .bytea), sealedBy: value.sealedBy)
    }
}

extension Optional: PostgresSealable where Wrapped: PostgresSealable {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Wrapped? {
        try value.bytes == nil || PrivateValue(value).stored.bytes == nil ? nil : try Wrapped.open(value, vault)
    }
}
