import NIOCore
import RelayCore

/// The body of an operator's action: `{"reason":"…"}`, why it is done.
enum OperatorReason {
    static let maximumLength = 400

    /// - Throws: ``Problem`` 400 and 422.
    static func parse(_ bytes: ByteBuffer) throws -> String {
        let (kind, field) = try read(bytes)
        guard kind == .object else { throw Problem.invalidFields([.wrongType("", "an object", kind)]) }
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

    private static func read(_ bytes: ByteBuffer) throws -> (JSONKind, JSONField) {
        do {
            return try bytes.withUnsafeReadableBytes { bytes in
                var scanner = JSONScanner(bytes)
                var reason = JSONField.absent
                let kind = try scanner.kind()
                if kind == .object {
                    try scanner.object(depth: 1) { (scanner, name) throws(JSONSyntaxError) in
                        if name == "reason" {
                            reason = try JSONField(&scanner, depth: 2)
                        } else {
                            try scanner.skip(depth: 2)
                        }
                    }
                } else {
                    try scanner.skip(depth: 1)
                }
                try scanner.end()
                return (kind, reason)
            }
        } catch let error as JSONSyntaxError {
            throw Problem(.notJSON, "the body stops being JSON in UTF-8 at byte \(error.offset)")
        }
    }
}
