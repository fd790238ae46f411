import RelayCore

/// What is read of bodies whose names count in any case.
extension FieldReader {
    /// A text of so many characters at most, where there is one.
    mutating func text(_ name: String, characters: Int) -> String? {
        if case .string(let text) = fields[name],
            text.utf8.count > 4 * characters || text.unicodeScalars.count > characters
        {
            return refuse(name, .tooLong, "must have at most \(characters) characters")
        }
        return optional(name)
    }

    /// An id, where there is one.
    mutating func id(_ name: String) -> BillingID? {
        guard let text = text(name, characters: 100) else { return nil }
        return BillingID(text) ?? refuse(name, "must be an id: 24 hexadecimal digits")
    }

    /// An object as it stands, where there is one.
    mutating func object(_ name: String) -> String? {
        switch fields[name] {
        case .absent: nil
        case .object(let text): text
        case let field: refuse(name, wants: "an object", not: field.kind)
        }
    }
}
