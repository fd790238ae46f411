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
    private var fields: [String: OpsField] = [:]

    /// - Throws: ``Problem`` 400, and 422 where it is no object.
    init(_ bytes: ByteBuffer) throws {
        do {
            fields = try bytes.withUnsafeReadableBytes { bytes in
                var scanner = JSONScanner(bytes)
                var fields: [String: OpsField] = [:]
                let kind = try scanner.kind()
                guard kind == .object else {
                    try scanner.skip(depth: 1)
                    try scanner.end()
                    throw Problem.invalidFields([.wrongType("", "an object", kind)])
                }
                try scanner.object(depth: 1) { (scanner, name) throws(JSONSyntaxError) in
                    fields[name] = try Self.field(&scanner)
                }
                try scanner.end()
                return fields
            }
        } catch let error as JSONSyntaxError {
            throw Problem(.notJSON, "the body stops being JSON in UTF-8 at byte \(error.offset)")
        }
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
