import RelayCore
import RelayStore

/// The parameters that all lists of ops share.
struct PageQuery {
    static let maximumLimit = 200

    let query: QueryItems
    var reader = FieldReader()

    init(_ query: QueryItems) { self.query = query }

    mutating func limit() -> Int {
        guard let text = query["limit"] else { return 50 }
        guard let number = Int(text), (1...Self.maximumLimit).contains(number),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            reader.add(FieldError("limit", .invalid, "must be a whole number from 1 to \(Self.maximumLimit)"))
            return 50
        }
        return number
    }

    mutating func cursor<Cursor>(_ parse: (String) -> Cursor?) -> Cursor? {
        guard let text = query["cursor"] else { return nil }
        let cursor = parse(text)
        if cursor == nil { reader.add(FieldError("cursor", .invalid, "must be a nextCursor of an earlier page")) }
        return cursor
    }

    /// As the database compares it.
    mutating func customer() -> String? {
        query["customerEmail"].flatMap { reader.email($0, "customerEmail")?.customer }
    }

    mutating func originalTransactionID() -> String? {
        guard let text = query["originalTransactionId"] else { return nil }
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            reader.add(FieldError("originalTransactionId", .invalid, "must be 1 to 64 visible characters"))
            return nil
        }
        return text
    }

    mutating func choice<Choice>(_ name: String, _ choices: [(String, Choice)]) -> Choice? {
        guard let text = query[name] else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        reader.add(FieldError(name, .invalid, "must be one of \(choices.map(\.0).joined(separator: ", "))"))
        return nil
    }

    /// - Throws: ``Problem`` 422 that names every wrong parameter.
    func end() throws {
        guard reader.errors.isEmpty else { throw Problem.invalidFields(reader.errors) }
    }
}
