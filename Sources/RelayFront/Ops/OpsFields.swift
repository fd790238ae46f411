import NIOCore

/// A field of an operator's body, numbers and truth values as they are written; null counts as absent.
enum OpsField: Sendable, Equatable {
    case absent
    case text(String)
    case literal(String)
    case other(JSONKind)

    /// As the judges of texts take it.
    var asText: JSONField {
        switch self {
        case .absent: .absent
        case .text(let text): .string(text)
        case .literal(let text): .other(["true", "false"].contains(text) ? .bool : .number)
        case .other(let kind): .other(kind)
        }
    }
}

/// The fields of an operator's body: a flat object.
struct OpsFields: Sendable {
    private let fields: [String: OpsField]

    /// - Throws: ``Problem`` 400, and 422 where it is no object.
    init(_ bytes: ByteBuffer) throws {
        var fields: [String: OpsField] = [:]
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            fields[name] = try Self.field(&scanner)
        }
        self.fields = fields
    }

    subscript(name: String) -> OpsField { fields[name] ?? .absent }

    private static func field(_ scanner: inout JSONScanner) throws(JSONSyntaxError) -> OpsField {
        let kind = try scanner.kind()
        switch kind {
        case .string: return .text(try scanner.string())
        case .number, .bool:
            let start = scanner.index
            try scanner.skip(depth: 2)
            let bytes = UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.index])
            return .literal(String(decoding: bytes, as: UTF8.self))
        case .null:
            try scanner.skip(depth: 2)
            return .absent
        case .array, .object:
            try scanner.skip(depth: 2)
            return .other(kind)
        }
    }
}
