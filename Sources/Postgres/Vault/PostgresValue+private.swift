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
