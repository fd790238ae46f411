import Formats

/// Validates the fields of a body or a query one by one, and collects all errors.
package struct FieldReader {
    /// Fields by name, and within an object by path (`receipt.transactionId`).
    private let fields: [String: JSONField]
    /// Prefix of each name in errors: `Customer.`.
    private let path: String
    package private(set) var errors: [FieldError] = []

    package init(_ fields: [String: JSONField] = [:], in path: String = "") {
        self.fields = fields
        self.path = path
    }

    package subscript(name: String) -> JSONField { fields[name] ?? .absent }

    /// Names of the present fields.
    package var present: Set<String> { Set(fields.filter { $0.value != .absent }.keys) }

    /// Adds an error about a field.
    package mutating func add(_ name: String, _ code: FieldError.Code, _ detail: String) {
        errors.append(FieldError(path + name, code, detail))
    }

    /// Adds an error about a field, whose value is then nil.
    package mutating func refuse<Value>(_ name: String, _ detail: String) -> Value? { refuse(name, .invalid, detail) }

    package mutating func refuse<Value>(_ name: String, _ code: FieldError.Code, _ detail: String) -> Value? {
        add(name, code, detail)
        return nil
    }

    package mutating func refuse<Value>(_ name: String, wants wanted: String, not kind: JSONKind) -> Value? {
        errors.append(.wrongType(path + name, wanted, kind))
        return nil
    }

    /// Adds errors about the first few unknown names, shortened, since a name may be as long as the body.
    package mutating func refuse(unknown: [String], known: [String]) {
        for name in unknown.prefix(8) {
            add(String(name.prefix(64)), .unknownField, "is not known; known are \(known.joined(separator: ", "))")
        }
    }

    /// - Throws: ``Problem`` 422 that names every wrong field.
    package func end() throws {
        guard errors.isEmpty else { throw Problem.invalidFields(errors) }
    }

    /// A required text.
    package mutating func required(_ name: String) -> String? { required(self[name], name) }

    package mutating func required(_ field: JSONField, _ name: String) -> String? {
        guard field != .absent else { return refuse(name, .required, "is required") }
        return optional(field, name)
    }

    /// An optional text. Refuses NUL, which PostgreSQL's text cannot store.
    package mutating func optional(_ name: String) -> String? { optional(self[name], name) }

    package mutating func optional(_ field: JSONField, _ name: String) -> String? {
        switch field {
        case .absent: return nil
        case .string(var text):
            guard !text.withUTF8(ByteScan.holdsNUL) else { return refuse(name, "must not hold NUL characters") }
            return text
        default: return refuse(name, wants: "a string", not: field.kind)
        }
    }
}
