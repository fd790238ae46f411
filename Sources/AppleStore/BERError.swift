/// Why bytes are no BER (ITU-T X.690), or not the structure that was asked for.
enum BERError: Error {
    /// A length, tag or end-of-contents mark is wrong, or the bytes end too early.
    case malformed
    /// An element of another type stands where this one must.
    case unexpectedElement
    /// Nested deeper than anything a store writes.
    case tooDeep
    /// More elements, or larger ones, than ``ReceiptLimits`` allows.
    case limitExceeded
}
