/// Readers for one kind of optional field each.
extension FieldReader {
    /// A text with a maximum number of characters.
    package mutating func text(_ name: String, characters: Int) -> String? {
        if case .string(let text) = self[name],
            text.utf8.count > 4 * characters || text.unicodeScalars.count > characters
        {
            return refuse(name, .tooLong, "must have at most \(characters) characters")
        }
        return optional(name)
    }

    /// An object's text, unchanged.
    package mutating func object(_ name: String) -> String? {
        switch self[name] {
        case .absent: nil
        case .object(let text): text
        case let field: refuse(name, wants: "an object", not: field.kind)
        }
    }

    package mutating func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard self[name] != .absent else { return nil }
        guard let number = self[name].integer.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            return refuse(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    package mutating func flag(_ name: String) -> Bool {
        if case .bool(let flag) = self[name] { return flag }
        if self[name] != .absent { add(name, .wrongType, "must be true or false") }
        return false
    }

    package mutating func choice<Choice: CaseIterable & RawRepresentable<String>>(_ name: String, _: Choice.Type)
        -> Choice?
    {
        guard let text = optional(name) else { return nil }
        let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        return Choice(rawValue: text) ?? refuse(name, "must be one of \(names)")
    }
}
