import Formats

/// One wrong field of a body or a query, as `errors` of a problem lists it.
package struct FieldError: Sendable, Equatable {
    package enum Code: String, Sendable {
        case required
        case wrongType = "wrong_type"
        case invalid
        case tooLong = "too_long"
        case ignored
        /// Contradicts another field.
        case mismatch
        case unknown
        /// An unknown field whose name resembles a known one.
        case unknownField = "unknown_field"
    }

    /// The sender's path of it, such as `receipt.transactionId`; empty for the whole body.
    package let field: String
    package let code: Code
    package let detail: String

    package init(_ field: String, _ code: Code, _ detail: String) {
        self.field = field
        self.code = code
        self.detail = detail
    }

    static func wrongType(_ field: String, _ wanted: String, _ found: JSONKind) -> FieldError {
        FieldError(field, .wrongType, "must be \(wanted), not \(found.article)")
    }
}

extension JSONWriter {
    package mutating func array(_ name: StaticString, _ errors: [FieldError]) {
        beginArray(name)
        for error in errors {
            beginObject()
            field("field", error.field)
            field("code", error.code.rawValue)
            field("detail", error.detail)
            endObject()
        }
        endArray()
    }
}
