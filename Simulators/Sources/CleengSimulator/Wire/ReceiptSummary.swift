/// All that is kept of a receipt.
struct ReceiptSummary: Sendable, Equatable {
    /// SHA-256 of the receipt's text as it was sent, in lower-case hexadecimal digits.
    let sha256: String
    /// UTF-8 bytes of the receipt's text.
    let length: Int
    /// As read from the receipt; nil where it cannot be read.
    let originalTransactionId: String?

    init(receiptData: String, originalTransactionId: String?) {
        var text = receiptData
        sha256 = text.withUTF8 { HexDigest.sha256(UnsafeRawBufferPointer($0)) }
        length = receiptData.utf8.count
        self.originalTransactionId = originalTransactionId
    }
}
