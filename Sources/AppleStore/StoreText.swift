/// Text out of a receipt, admitted only in a shape that can be stored and indexed: a receipt nobody has verified may
/// hold anything, NUL characters and megabytes included.
enum StoreText {
    /// UTF-8 of 1 to 255 bytes without control characters; an empty string is how Apple writes "absent".
    static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes.count <= ReceiptLimits.textValueBytes else { return nil }
        for byte in bytes where byte < 0x20 || byte == 0x7F { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// A transaction number or its like: 1 to 64 visible ASCII characters. Numbers stay text: Apple calls them strings.
    static func identifier(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes.count <= ReceiptLimits.identifierBytes else { return nil }
        for byte in bytes where !(0x21...0x7E).contains(byte) { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    static func text(_ string: String) -> String? { text(Array(string.utf8)[...]) }
    static func identifier(_ string: String) -> String? { identifier(Array(string.utf8)[...]) }
}
