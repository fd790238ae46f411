package import NIOCore

/// An `application/x-www-form-urlencoded` body, as in a token request. A repeated name has no value (RFC 6749 section
/// 3.2).
package struct FormBody: Sendable {
    private static let maximumItems = 32
    private var values: [String: String?] = [:]

    /// - Throws: ``Problem`` 400 if it has too many items.
    package init(_ body: ByteBuffer) throws(Problem) {
        let items = body.readableBytesView.split(separator: UInt8(ascii: "&"), maxSplits: Self.maximumItems)
        guard items.count <= Self.maximumItems else { throw Problem(.badRequest, "the body has too many fields") }
        for item in items {
            let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decoded(parts[0])
            let value: String? = parts.count == 2 ? Self.decoded(parts[1]) : ""
            values[name] = .some(values[name] == nil ? value : nil)
        }
    }

    /// Nil if the field is missing, empty or repeated.
    package subscript(name: String) -> String? {
        guard let value = values[name] ?? nil, !value.isEmpty else { return nil }
        return value
    }

    private static func decoded(_ bytes: some Collection<UInt8>) -> String {
        let text = String(decoding: bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        return text.percentDecoded
    }
}
