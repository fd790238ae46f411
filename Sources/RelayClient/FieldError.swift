/// One field that the relay did not accept.
public struct FieldError: Sendable, Hashable {
    /// Its path in the body, such as `receipt.transactionId`; empty for the body as a whole.
    public var field: String
    /// `required`, `wrong_type`, `invalid`, `too_long`.
    public var code: String
    /// In words.
    public var detail: String

    public init(field: String, code: String, detail: String) {
        self.field = field
        self.code = code
        self.detail = detail
    }
}
