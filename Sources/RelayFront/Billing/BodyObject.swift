import Foundation
import NIOCore
import RelayCore

/// An object of a body with names in any case: what is wanted of it, read and not yet judged. Null counts as absent; of a name that
/// comes twice the last one counts; all else is passed over.
struct BodyObject: Sendable {
    enum Value: Sendable, Equatable {
        case text(String)
        /// As it stands in the body.
        case object(String)
        /// Of texts.
        case list([String])
        case other(JSONKind)

        var kind: JSONKind {
            switch self {
            case .text: .string
            case .object: .object
            case .list: .array
            case .other(let kind): kind
            }
        }
    }

    private let values: [String: Value]

    /// - Parameters:
    ///   - names: as the documentation writes them.
    ///   - lists: of these names, those that may have a list of texts.
    /// - Throws: ``Problem``: 400 where it is not JSON, 422 where it is JSON and no object.
    init(_ bytes: ByteBuffer, names: [String], lists: Set<String> = []) throws {
        let wanted = Dictionary(names.map { ($0.lowercased(), $0) }, uniquingKeysWith: { $1 })
        let longest = names.map(\.utf8.count).max() ?? 0
        var values: [String: Value] = [:]
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            guard name.utf8.count <= longest, let wanted = wanted[name.lowercased()] else {
                return try scanner.skip(depth: 2)
            }
            values[wanted] = try Self.value(&scanner, isList: lists.contains(wanted))
        }
        self.values = values
    }

    /// - Parameter text: a JSON object, of a body that was read.
    init(_ text: String, names: [String]) throws {
        try self.init(ByteBuffer(string: text), names: names)
    }

    private static func value(
        _ scanner: inout JSONScanner, isList: Bool
    ) throws(JSONSyntaxError) -> Value? {
        let kind = try scanner.kind()
        if kind == .string { return .text(try scanner.string()) }
        let start = scanner.index
        try scanner.skip(depth: 2)
        switch kind {
        case .null: return nil
        case .object:
            return .object(
                String(decoding: UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.index]), as: UTF8.self))
        case .array where isList:
            let bytes = UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.index])
            return (try? JSONDecoder().decode([String].self, from: Data(bytes))).map { .list($0) } ?? .other(kind)
        default: return .other(kind)
        }
    }

    subscript(name: String) -> Value? { values[name] }
}

extension BodyObject {
    /// A text, where there is one.
    ///
    /// - Parameters:
    ///   - path: what stands before the name in an error: `Customer.`.
    ///   - characters: how many it may have.
    func text(_ name: String, path: String = "", characters: Int, _ errors: inout [FieldError]) -> String? {
        switch self[name] {
        case nil: return nil
        case .text(let text):
            guard text.utf8.count <= 4 * characters, text.unicodeScalars.count <= characters else {
                errors.append(FieldError(path + name, .tooLong, "must have at most \(characters) characters"))
                return nil
            }
            // PostgreSQL's text cannot hold it.
            guard !text.utf8.contains(0) else {
                errors.append(FieldError(path + name, .invalid, "must not hold NUL characters"))
                return nil
            }
            return text
        case let value?:
            errors.append(.wrongType(path + name, "a string", value.kind))
            return nil
        }
    }

    /// An id, where there is one.
    func id(_ name: String, _ errors: inout [FieldError]) -> BillingID? {
        guard let text = text(name, characters: 100, &errors) else { return nil }
        let id = BillingID(text)
        if id == nil { errors.append(FieldError(name, .invalid, "must be an id: 24 hexadecimal digits")) }
        return id
    }

    /// An object as it stands, where there is one.
    func object(_ name: String, path: String = "", _ errors: inout [FieldError]) -> String? {
        switch self[name] {
        case nil: return nil
        case .object(let text): return text
        case let value?:
            errors.append(.wrongType(path + name, "an object", value.kind))
            return nil
        }
    }
}
