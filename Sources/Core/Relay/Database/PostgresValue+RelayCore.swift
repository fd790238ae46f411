public import Postgres
public import RelayCore

/// Identifiers are `text` in the database, which compares them by bytes, as ``Identifier`` does.
extension Identifier: PostgresDecodable where Kind: PlainName {
    public static func decode(_ value: PostgresBinary) throws -> Identifier {
        Identifier(try String.decode(value))
    }
}

extension Identifier: PostgresSealable where Kind: PrivateName {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Identifier {
        Identifier(try KeyedValue(value).text(vault))
    }
}

/// Content of a ``Private`` column: text or bytes.
public protocol PrivateContent {
    static func open(_ value: KeyedValue, _ vault: any PostgresVault) throws -> Self
}

extension String: PrivateContent {
    public static func open(_ value: KeyedValue, _ vault: any PostgresVault) throws -> String {
        try value.text(vault)
    }
}

extension Array: PrivateContent where Element == UInt8 {
    public static func open(_ value: KeyedValue, _ vault: any PostgresVault) throws -> [UInt8] {
        try value.bytes(vault)
    }
}

extension Private: PostgresSealable where Value: PrivateContent {
    public static func open(_ value: PostgresBinary, _ vault: any PostgresVault) throws -> Private {
        Private(try Value.open(KeyedValue(value), vault))
    }
}

extension PostgresValue {
    package static func text<Kind: PlainName>(_ identifier: Identifier<Kind>?) -> PostgresValue {
        .text(identifier?.text)
    }

    package static func textArray<Kind: PlainName>(_ identifiers: [Identifier<Kind>]) -> PostgresValue {
        .textArray(identifiers.map(\.text))
    }

    package static func textArray<Kind: PlainName>(_ identifiers: [Identifier<Kind>?]) -> PostgresValue {
        .textArray(identifiers.map { $0?.text })
    }

    static func privateText<Kind: PrivateName>(_ identifier: Identifier<Kind>?) -> PostgresValue {
        .privateText(identifier?.text)
    }

    static func privateTextArray<Kind: PrivateName>(_ identifiers: [Identifier<Kind>]) -> PostgresValue {
        .privateTextArray(identifiers.map(\.text))
    }

    static func privateTextArray(_ texts: [Private<String>?]) -> PostgresValue {
        .privateTextArray(texts.map { $0?.value })
    }

    static func privateByteaArray(_ bytes: [Private<[UInt8]>]) -> PostgresValue {
        .privateByteaArray(bytes.map(\.value))
    }
}

extension String {
    /// The first Unicode scalars, at most `most`. Scalars are counted because one character can have any number of
    /// them, such as a letter with a megabyte of accents.
    func bounded(_ most: Int) -> String { String(unicodeScalars.prefix(most)) }
}
