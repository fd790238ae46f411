import Foundation
import Postgres
import RelayCore

/// Erases rows that mention a customer in a text. Reads all rows to find them.
extension CustomerStore {
    /// Number of erased rows, and of rows that cannot be opened.
    typealias ErasedMentions = (erased: Int, unreadable: Int)

    /// Deletes Cleeng's events that mention the email.
    func eraseEvents(mentioning email: CustomerID) async throws -> ErasedMentions {
        try await erase(mentioning: email) { last in
            let place = try last.map(PointerPage.place) ?? .start
            return """
                SELECT e.bucket, e.accepted_on - DATE 'epoch' AS day, e.id, ROW(e.sealed_by, e.body) AS body
                FROM cleeng_events e
                WHERE (e.bucket, e.accepted_on, e.id) > (\(place.values))
                ORDER BY e.bucket, e.accepted_on, e.id
                LIMIT \(unescaped: Self.pageSize)
                """
        } text: {
            try $0.open("body", as: Private<[UInt8]>.self).value
        } erasure: { found in
            """
            DELETE FROM cleeng_events e
            USING \(.ids(try found.map { try $0.validationID() }), as: "i")
            WHERE e.bucket = i.bucket AND e.accepted_on = DATE 'epoch' + i.day AND e.id = i.id
            """
        }
    }

    /// Empties the details of billing customers that mention the email. Contracts stay, under the ids that the
    /// publisher knows.
    func eraseBillingCustomers(mentioning email: CustomerID) async throws -> ErasedMentions {
        try await erase(mentioning: email) { last in
            let (bucket, id) = (try last?.get("bucket") ?? -1 as Int16, try last?.get("id") ?? "")
            return """
                SELECT c.bucket, c.id, ROW(c.sealed_by, c.details) AS details FROM billing_customers c
                WHERE (c.bucket, c.id) > (\(.int2(bucket)), \(.text(id)))
                ORDER BY c.bucket, c.id
                LIMIT \(unescaped: Self.pageSize)
                """
        } text: {
            Array(try $0.open("details", as: Private<String>.self).value.utf8)
        } erasure: { found in
            """
            UPDATE billing_customers c SET details = \(.privateText("{}")), sealed_by = \(.keyOfTexts)
            FROM \(.externalSubscriptions(try found.map { try $0.billingID("id") }), as: "i")
            WHERE c.bucket = i.bucket AND c.id = i.id
            """
        }
    }

    private static let pageSize = "500"

    /// Erases rows of a table that mention the email, in the order of its primary key.
    ///
    /// - Parameters:
    ///   - page: reads the rows after this one, or the first rows.
    ///   - text: text of a row that may mention the email.
    ///   - erasure: erases rows whose text mentions the email, without regard to the case of ASCII letters.
    private func erase(
        mentioning email: CustomerID, page: (PostgresRow?) throws -> SQL, text: (PostgresRow) throws -> [UInt8],
        erasure: ([PostgresRow]) throws -> SQL
    ) async throws -> ErasedMentions {
        let email = Array(email.text.asciiLowercased().utf8)
        var last: PostgresRow?
        var all: ErasedMentions = (0, 0)
        while true {
            let rows = try await database.query(try page(last))
            guard let end = rows.last else { return all }
            last = end
            let found = try rows.filter { row in
                do {
                    return Array(String(decoding: try text(row), as: UTF8.self).asciiLowercased().utf8).mentions(email)
                } catch let error as PostgresError where error.code == .decoding {
                    // A damaged row of one customer must not keep the others from being erased.
                    all.unreadable += 1
                    return false
                }
            }
            if !found.isEmpty { all.erased += try await database.query(try erasure(found)).affectedRows }
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
