import RelayCore

/// Judges a body's fields one by one and remembers all that is wrong.
struct FieldReader {
    let fields: JSONFields
    /// What stands before each name in an error: `Customer.`.
    private let path: String
    private(set) var errors: [FieldError] = []

    init(_ fields: JSONFields = JSONFields(), in path: String = "") {
        self.fields = fields
        self.path = path
    }

    /// Remembers what is wrong with a field.
    mutating func add(_ name: String, _ code: FieldError.Code, _ detail: String) {
        errors.append(FieldError(path + name, code, detail))
    }

    mutating func add(_ name: String, wants wanted: String, not kind: JSONKind) {
        errors.append(.wrongType(path + name, wanted, kind))
    }

    /// The same of one that then has no value.
    mutating func refuse<Value>(_ name: String, _ detail: String) -> Value? { refuse(name, .invalid, detail) }

    mutating func refuse<Value>(_ name: String, _ code: FieldError.Code, _ detail: String) -> Value? {
        add(name, code, detail)
        return nil
    }

    mutating func refuse<Value>(_ name: String, wants wanted: String, not kind: JSONKind) -> Value? {
        add(name, wants: wanted, not: kind)
        return nil
    }

    /// - Throws: ``Problem`` 422 that names every wrong field.
    func end() throws {
        guard errors.isEmpty else { throw Problem.invalidFields(errors) }
    }

    /// A text that must be there.
    mutating func required(_ name: String) -> String? { required(fields[name], name) }

    mutating func required(_ field: JSONField, _ name: String) -> String? {
        guard field != .absent else { return refuse(name, .required, "is required") }
        return optional(field, name)
    }

    /// A text that may be left out. NUL is refused everywhere: PostgreSQL's text cannot hold it.
    mutating func optional(_ name: String) -> String? { optional(fields[name], name) }

    mutating func optional(_ field: JSONField, _ name: String) -> String? {
        switch field {
        case .absent: return nil
        case .string(var text):
            guard !text.withUTF8(ByteScan.holdsNUL) else { return refuse(name, "must not hold NUL characters") }
            return text
        default: return refuse(name, wants: "a string", not: field.kind)
        }
    }

    /// A whole number above zero, or the digits of one in a string, as Cleeng numbers its customers.
    mutating func positive(_ name: String) -> Int64? {
        let field = fields[name]
        guard field != .absent else { return nil }
        let digits: Int64? = if case .string(let text) = field { Int64(text) } else { nil }
        guard let number = field.integer ?? digits else {
            return refuse(name, wants: "a whole number", not: field.kind)
        }
        return number > 0 ? number : refuse(name, "must be greater than 0")
    }

    mutating func email(_ text: String, _ name: String) -> CustomerEmail? {
        guard text.trimmingSpace().utf8.count <= CustomerEmail.maximumLength, text.utf8.count <= 1_024 else {
            return refuse(name, .tooLong, "must have at most \(CustomerEmail.maximumLength) bytes")
        }
        return CustomerEmail(text) ?? refuse(name, "must be an email address")
    }

    mutating func offerID(_ text: String, _ name: String) -> OfferID? {
        guard text.utf8.count <= 100 else { return refuse(name, .tooLong, "must have at most 100 characters") }
        guard !text.isEmpty, text.utf8.allSatisfy(\.isOfID) else {
            return refuse(name, "must be of letters, digits, _, - and .")
        }
        return OfferID(text)
    }
}

extension UInt8 {
    /// An ASCII letter or digit, `_`, `-` or `.`: what ids are written with, and what stands in an address as it is.
    var isOfID: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: isDigit
        }
    }

    /// An ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
