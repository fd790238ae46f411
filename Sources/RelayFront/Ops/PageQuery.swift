import RelayCore
import RelayStore

/// The parameters that all lists of ops share.
struct PageQuery {
    static let maximumLimit = 200

    let query: QueryItems
    var reader = FieldReader()

    init(_ query: QueryItems) { self.query = query }

    mutating func limit() -> Int { number("limit", in: 1...Self.maximumLimit) ?? 50 }

    mutating func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text), range.contains(number),
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            let bounds = "from \(range.lowerBound) to \(range.upperBound)"
            reader.add(FieldError(name, .invalid, "must be a whole number \(bounds)"))
            return nil
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
    mutating func customer() -> CustomerID? {
        query["customerEmail"].flatMap { reader.email($0, "customerEmail")?.customer }
    }

    mutating func offerID() -> OfferID? { query["offerId"].flatMap { reader.offerID($0, "offerId") } }

    mutating func originalTransactionID() -> TransactionID? {
        guard let text = query["originalTransactionId"] else { return nil }
        guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            reader.add(FieldError("originalTransactionId", .invalid, "must be 1 to 64 visible characters"))
            return nil
        }
        return TransactionID(text)
    }

    mutating func choice<Choice>(_ name: String, _ choices: [(String, Choice)]) -> Choice? {
        guard let text = query[name] else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        let names = choices.map(\.0).joined(separator: ", ")
        let rule = choices.count == 1 ? "must be \(names), or left out" : "must be one of \(names)"
        reader.add(FieldError(name, .invalid, rule))
        return nil
    }

    /// - Throws: ``Problem`` 422 that names every wrong parameter.
    func end() throws {
        guard reader.errors.isEmpty else { throw Problem.invalidFields(reader.errors) }
    }

    mutating func endpoint() -> EndpointID? {
        guard let text = query["endpoint"] else { return nil }
        let id = EndpointID(text)
        if id == nil { reader.add(FieldError("endpoint", .invalid, "must be 24 hexadecimal digits")) }
        return id
    }

    mutating func applicationUsername() -> String? {
        guard let text = query["applicationUsername"] else { return nil }
        guard (1...512).contains(text.unicodeScalars.count), !text.unicodeScalars.contains("\0") else {
            reader.add(FieldError("applicationUsername", .invalid, "must be 1 to 512 characters, and none of them NUL"))
            return nil
        }
        return text
    }
}
