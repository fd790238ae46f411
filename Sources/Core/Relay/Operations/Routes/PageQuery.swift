import Formats
package import HTTPServer
import RelayCore

/// Query parameters that all lists for operators share.
package struct PageQuery {
    package static let maximumLimit = 200

    let query: QueryItems
    var reader = FieldReader()
    private let ignoresUnknown: Bool
    private var known: [String] = []

    /// - Parameter ignoresUnknown: true for console pages, whose addresses contain more than the list reads.
    package init(_ query: QueryItems, ignoresUnknown: Bool = false) {
        self.query = query
        self.ignoresUnknown = ignoresUnknown
    }

    mutating func text(_ name: String) -> String? {
        known.append(name)
        return query[name]
    }

    /// - Throws: ``Problem`` 422 that names every wrong or unknown parameter. A misspelled parameter would filter
    ///   nothing.
    mutating func end() throws {
        if !ignoresUnknown { reader.refuse(unknown: query.names.filter { !known.contains($0) }, known: known) }
        try reader.end()
    }

    mutating func limit() -> Int { number("limit", in: 1...Self.maximumLimit) ?? 50 }

    mutating func number(_ name: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(name) else { return nil }
        guard let number = Int(text), range.contains(number), text.utf8.allSatisfy(\.isDigit) else {
            return reader.refuse(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func cursor<Cursor>(_ parse: (String) -> Cursor?) -> Cursor? {
        guard let text = text("cursor") else { return nil }
        return parse(text) ?? reader.refuse("cursor", "must be a nextCursor of an earlier page")
    }

    /// The customer in the form that the database compares.
    mutating func customer() -> CustomerID? {
        text("customerEmail").flatMap { reader.email($0, "customerEmail")?.customer }
    }

    mutating func offerID() -> OfferID? { text("offerId").flatMap { reader.offerID($0, "offerId") } }

    /// A store's prefix and a purchase token of at most 1,024 bytes.
    private static let mostKeyBytes = 1_040

    mutating func originalTransactionID() -> TransactionID? {
        guard let text = text("originalTransactionId") else { return nil }
        guard (1...Self.mostKeyBytes).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            return reader.refuse("originalTransactionId", "must be 1 to \(Self.mostKeyBytes) visible characters")
        }
        return TransactionID(text)
    }

    mutating func choice<Choice>(_ name: String, _ choices: [(String, Choice)]) -> Choice? {
        guard let text = text(name) else { return nil }
        if let choice = choices.first(where: { $0.0 == text }) { return choice.1 }
        let names = choices.map(\.0).joined(separator: ", ")
        return reader.refuse(name, choices.count == 1 ? "must be \(names), or left out" : "must be one of \(names)")
    }

    mutating func endpoint() -> EndpointID? {
        guard let text = text("endpoint") else { return nil }
        return EndpointID(text) ?? reader.refuse("endpoint", "must be 24 hexadecimal digits")
    }

    mutating func applicationUsername() -> Username? {
        guard let text = text("applicationUsername") else { return nil }
        guard (1...512).contains(text.unicodeScalars.count), !text.utf8.contains(0) else {
            return reader.refuse("applicationUsername", "must be 1 to 512 characters, and none of them NUL")
        }
        return Username(text)
    }
}
