public import Postgres
public import RelayCore

/// What a ``Private`` column may hold: text or bytes.
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
    static func privateText(_ text: Private<String>?) -> PostgresValue { .privateText(text?.value) }

    static func privateTextArray(_ texts: [Private<String>?]) -> PostgresValue {
        .privateTextArray(texts.map { $0?.value })
    }

    static func privateByteaArray(_ bytes: [Private<[UInt8]>]) -> PostgresValue {
        .privateByteaArray(bytes.map(\.value))
    }

    static func privateBytea(_ bytes: Private<[UInt8]>) -> PostgresValue { .privateBytea(bytes.value) }
}
