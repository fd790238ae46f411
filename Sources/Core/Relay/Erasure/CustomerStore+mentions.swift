import Formats
import Foundation
package import Postgres
package import RelayCore

/// Rows of a table that may mention a customer in a text. All of them must be read to find those.
package struct MentioningRows: Sendable {
    /// Name of the list in an export.
    package let member: String
    /// What they are, for people: `events of Cleeng's`.
    package let title: String
    /// Names of a row's name and of its text in an export.
    package let nameMember, textMember: String
    /// Whether the text is JSON.
    package let isJSON: Bool
    fileprivate let page: @Sendable (PostgresRow?) throws -> SQL
    fileprivate let name: @Sendable (PostgresRow) throws -> String
    fileprivate let text: @Sendable (PostgresRow) throws -> [UInt8]
    fileprivate let erasure: @Sendable ([PostgresRow]) throws -> SQL

    package static let pageSize: Int32 = 500

    /// - Parameters:
    ///   - page: selects at most ``pageSize`` rows after this one in the order of the primary key, or the first ones, with
    ///     `at` and `publisher`.
    ///   - erasure: removes the text of rows.
    package init(
        member: String, title: String, nameMember: String, textMember: String, isJSON: Bool,
        page: @escaping @Sendable (PostgresRow?) throws -> SQL,
        name: @escaping @Sendable (PostgresRow) throws -> String,
        text: @escaping @Sendable (PostgresRow) throws -> [UInt8],
        erasure: @escaping @Sendable ([PostgresRow]) throws -> SQL
    ) {
        self.member = member
        self.title = title
        self.nameMember = nameMember
        self.textMember = textMember
        self.isJSON = isJSON
        self.page = page
        self.name = name
        self.text = text
        self.erasure = erasure
    }
}

/// A text from outside that mentions a customer.
package struct CustomerMention: Sendable {
    package var at: Timestamp
    /// Nil for an event of the shared account at Cleeng.
    package var publisher: PublisherID?
    /// Its topic, type or id.
    package var name: String
    package var text: Private<String>

    fileprivate init(_ row: PostgresRow, of rows: MentioningRows) throws {
        at = try row.timestamp("at")
        publisher = try row.get("publisher", as: String?.self).map { PublisherID($0) }
        name = try rows.name(row)
        text = Private(String(decoding: try rows.text(row), as: UTF8.self))
    }
}

extension CustomerStore {
    /// Number of erased rows, and of rows that cannot be opened.
    typealias ErasedMentions = (erased: Int, unreadable: Int)

    /// The tables whose texts may mention a customer.
    package var mentioning: [MentioningRows] { memory.tables.flatMap(\.mentions) }

    /// The rows that mention an email. One that cannot be opened is left out.
    package func mentions(of email: CustomerID, in rows: MentioningRows) async throws -> [CustomerMention] {
        var mentions: [CustomerMention] = []
        _ = try await find(rows, mentioning: email) { found in
            mentions += try found.map { try CustomerMention($0, of: rows) }
        }
        return mentions
    }

    func erase(_ rows: MentioningRows, mentioning email: CustomerID) async throws -> ErasedMentions {
        var erased = 0
        let unreadable = try await find(rows, mentioning: email) { found in
            erased += try await database.query(try rows.erasure(found)).affectedRows
        }
        return (erased, unreadable)
    }

    /// Passes on the rows of each page whose text mentions the email, without regard to the case of ASCII letters.
    ///
    /// - Returns: number of rows that cannot be opened. A damaged row of one customer must not hide the others.
    private func find(
        _ rows: MentioningRows, mentioning email: CustomerID, use: ([PostgresRow]) async throws -> Void
    ) async throws -> Int {
        let email = Array(email.text.asciiLowercased().utf8)
        var last: PostgresRow?
        var unreadable = 0
        while true {
            let page = try await database.query(try rows.page(last))
            guard let end = page.last else { return unreadable }
            last = end
            let found = try page.filter { row in
                do {
                    let text = String(decoding: try rows.text(row), as: UTF8.self)
                    return Array(text.asciiLowercased().utf8).mentions(email)
                } catch let error as PostgresError where error.code == .decoding {
                    unreadable += 1
                    return false
                }
            }
            if !found.isEmpty { try await use(found) }
        }
    }
}

extension [UInt8] {
    /// Whether a text in JSON contains an email by itself, not within a longer one.
    ///
    /// - Parameter email: in lower case, as this text.
    func mentions(_ email: [UInt8]) -> Bool {
        ranges(of: email).contains { range in
            let (before, after) = (self[..<range.lowerBound], self[range.upperBound...])
            let opens = before.last.map { !Self.isOfEmail($0) } ?? true
            // A dot before a space ends a sentence.
            let rest = after.first == UInt8(ascii: ".") ? after.dropFirst() : after
            return (opens || Self.endsWithEscape(before)) && (rest.first.map { !Self.isOfEmail($0) } ?? true)
        }
    }

    private static func isOfEmail(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), 0x80...: true
        default: "._%+-".utf8.contains(byte)
        }
    }

    /// Whether the last character is an escape of JSON: `\n`, `\u003c`.
    private static func endsWithEscape(_ text: ArraySlice<UInt8>) -> Bool {
        let backslash = UInt8(ascii: "\\")
        let isShort = text.dropLast().last == backslash
        return isShort || text.suffix(6).starts(with: [backslash, UInt8(ascii: "u")])
    }
}
