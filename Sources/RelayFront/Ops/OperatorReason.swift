import NIOCore
import RelayCore

/// The body of an operator's action: `{"reason":"…"}`, why it is done.
enum OperatorReason {
    static let maximumLength = 400

    /// - Throws: ``Problem`` 400 and 422.
    static func parse(_ bytes: ByteBuffer) throws -> String {
        var field = JSONField.absent
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            guard name == "reason" else { return try scanner.skip(depth: 2) }
            field = try JSONField(&scanner, depth: 2)
        }
        var reader = FieldReader()
        guard let reason = judge(field, &reader) else { throw Problem.invalidFields(reader.errors) }
        return reason
    }

    static func judge(_ field: JSONField, _ reader: inout FieldReader) -> String? {
        guard let reason = reader.required(field, "reason")?.trimmingSpace() else { return nil }
        if reason.isEmpty {
            reader.add(FieldError("reason", .invalid, "must not be empty"))
            return nil
        }
        if reason.utf8.count > maximumLength * 4 || reason.unicodeScalars.count > maximumLength {
            reader.add(FieldError("reason", .tooLong, "must have at most \(maximumLength) characters"))
            return nil
        }
        return reason
    }
}
