import Formats
package import HTTPServer
package import RelayCore

extension StoreReceipt {
    /// Reads and validates a purchase at a store other than Apple's.
    ///
    /// - Parameter find: returns the field with the store's name, and the sender's path of it.
    /// - Returns: nil if a field is wrong; `reader` then has the error.
    package init?(
        of platform: StorePlatform, _ reader: inout FieldReader,
        _ find: (String, FieldReader) -> (field: JSONField, path: String)
    ) {
        var values: [String: SentScalar] = [:]
        for field in platform.receipt?.fields ?? [] {
            let (sent, path) = find(field.name, reader)
            values[field.name] = reader.scalar(sent, path, field)
        }
        self.init(platform, values)
    }
}

extension FieldReader {
    private static let mostDigits = 64

    fileprivate mutating func scalar(
        _ sent: JSONField, _ path: String, _ field: ReceiptForm.Field
    ) -> StoreReceipt.SentScalar? {
        if field.isRequired, sent == .absent { return refuse(path, .required, "is required") }
        if field.isScalar, case .number(let digits) = sent {
            guard digits.utf8.count <= Self.mostDigits else {
                return refuse(path, .tooLong, "must have at most \(Self.mostDigits) digits")
            }
            return .number(digits)
        }
        guard let text = optional(sent, path) else { return nil }
        guard text.utf8.count <= field.mostBytes else {
            return refuse(path, .tooLong, "must have at most \(field.mostBytes) bytes")
        }
        let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isPlain || field.isFree else { return refuse(path, "must not be empty, nor hold control characters") }
        return .text(text)
    }
}
