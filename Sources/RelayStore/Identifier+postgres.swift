public import Postgres
public import RelayCore

/// Identifiers are `text` in the database, which compares them as ``Identifier`` does: by bytes.
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

extension PostgresValue {
    static func text<Kind: PlainName>(_ identifier: Identifier<Kind>?) -> PostgresValue { .text(identifier?.text) }

    static func textArray<Kind: PlainName>(_ identifiers: [Identifier<Kind>]) -> PostgresValue {
        .textArray(identifiers.map(\.text))
    }

    static func textArray<Kind: PlainName>(_ identifiers: [Identifier<Kind>?]) -> PostgresValue {
        .textArray(identifiers.map { $0?.text })
    }

    static func privateText<Kind: PrivateName>(_ identifier: Identifier<Kind>?) -> PostgresValue {
        .privateText(identifier?.text)
    }

    static func privateTextArray<Kind: PrivateName>(_ identifiers: [Identifier<Kind>]) -> PostgresValue {
        .privateTextArray(identifiers.map(\.text))
    }

    static func privateTextArray<Kind: PrivateName>(_ identifiers: [Identifier<Kind>?]) -> PostgresValue {
        .privateTextArray(identifiers.map { $0?.text })
    }
}
