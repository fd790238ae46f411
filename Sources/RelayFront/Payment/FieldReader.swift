import RelayCore

/// Judges a body's fields one by one and remembers all that is wrong.
struct FieldReader {
    private(set) var errors: [FieldError] = []

    mutating func add(_ error: FieldError) {
        errors.append(error)
    }

    /// A field that must be there.
    mutating func required(_ field: JSONField, _ name: String) -> String? {
        if case .absent = field {
            add(.required(name))
            return nil
        }
        return optional(field, name)
    }

    /// A field that may be left out. NUL is refused everywhere: PostgreSQL's text cannot hold it.
    mutating func optional(_ field: JSONField, _ name: String) -> String? {
        switch field {
        case .absent: return nil
        case .other(let kind):
            add(.wrongType(name, "a string", kind))
            return nil
        case .string(var text):
            guard !text.withUTF8(ByteScan.holdsNUL) else {
                add(FieldError(name, .invalid, "must not hold NUL characters"))
                return nil
            }
            return text
        }
    }

    /// A whole number above zero, as Cleeng numbers its customers.
    mutating func positive(_ field: JSONInteger, _ name: String) -> Int64? {
        switch field {
        case .absent: return nil
        case .value(let number) where number > 0: return number
        case .value:
            add(FieldError(name, .invalid, "must be greater than 0"))
            return nil
        case .other(let kind):
            add(.wrongType(name, "a whole number", kind))
            return nil
        }
    }

    mutating func email(_ text: String, _ name: String) -> CustomerEmail? {
        guard text.trimmingSpace().utf8.count <= CustomerEmail.maximumLength, text.utf8.count <= 1_024 else {
            add(FieldError(name, .tooLong, "must have at most \(CustomerEmail.maximumLength) bytes"))
            return nil
        }
        guard let email = CustomerEmail(text) else {
            add(FieldError(name, .invalid, "must be an email address"))
            return nil
        }
        return email
    }

    mutating func offerID(_ text: String, _ name: String) -> OfferID? {
        guard text.utf8.count <= 100 else {
            add(FieldError(name, .tooLong, "must have at most 100 characters"))
            return nil
        }
        guard !text.isEmpty, text.utf8.allSatisfy(Self.isOfferByte) else {
            add(FieldError(name, .invalid, "must be of letters, digits, _, - and ."))
            return nil
        }
        return OfferID(text)
    }

    private static func isOfferByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
