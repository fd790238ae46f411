import HTTPTypes
import RawStructuredFieldValues
import RelayCore

/// `Idempotency-Key`: a string of RFC 9651 by its draft (quoted), bare by the custom of most clients.
enum IdempotencyKeyHeader {
    /// The key without quotes: 1 to 255 visible ASCII characters. Nil where none was sent.
    ///
    /// - Throws: ``Problem`` 400.
    static func parse(_ header: String?) throws -> String? {
        guard let header else { return nil }
        let key = header.hasBytes(first: "\"") ? unquoted(header) : header
        guard let key, (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Problem(.invalidIdempotencyKey, "send one key of 1 to 255 visible ASCII characters, quoted or bare")
        }
        return key
    }

    private static func unquoted(_ header: String) -> String? {
        guard header.utf8.count <= 1_024 else { return nil }
        var parser = StructuredFieldValueParser(Array(header.utf8))
        guard let item = try? parser.parseItemFieldValue(), case .string(let text) = item.rfc9651BareItem else {
            return nil
        }
        return text
    }
}
