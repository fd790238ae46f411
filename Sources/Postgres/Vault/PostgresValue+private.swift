/// Values of columns that a ``PostgresVault`` seals. Where one is compared with such a column, it has to be private too.
extension PostgresValue {
    public static func privateText(_ value: String?) -> PostgresValue {
        PostgresValue(.text, .text(value.map(BinaryFormat.text)))
    }

    public static func privateTextArray(_ elements: [String]) -> PostgresValue {
        PostgresValue(.textArray, .texts(elements.map(BinaryFormat.text)))
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
