import Foundation
import Postgres
public import RelayCore

/// Rows of a table that may mention a customer in a text. All of them must be read to find those.
struct MentioningRows: Sendable {
    /// Reads the rows after this one in the order of the primary key, or the first rows.
    fileprivate var page: @Sendable (PostgresRow?) throws -> SQL
    fileprivate var text: @Sendable (PostgresRow) throws -> [UInt8]
    fileprivate var erasure: @Sendable ([PostgresRow]) throws -> SQL

    /// Cleeng's events. Erasure deletes them.
    static let events = MentioningRows { last in
        let place = try last.map(PointerPage.place) ?? .start
        return """
            SELECT e.bucket, e.accepted_on - DATE 'epoch' AS day, e.id, e.received_at AS at, e.topic, e.account AS publisher,
                   ROW(e.sealed_by, e.body) AS body
            FROM cleeng_events e
            WHERE (e.bucket, e.accepted_on, e.id) > (\(place.values))
            ORDER BY e.bucket, e.accepted_on, e.id
            LIMIT \(unescaped: pageSize)
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

    /// Roku's notifications, of which those of Instant Signup name a customer. Erasure deletes them. A repeat is still
    /// known by its name.
    ///
    /// - Parameter message: reads the text of a body; nil if there is none.
    static func rokuNotifications(_ message: @escaping @Sendable ([UInt8]) -> [UInt8]?) -> MentioningRows {
        MentioningRows { last in
            let place = try last.map(PointerPage.place) ?? .start
            return """
                SELECT n.bucket, n.accepted_on - DATE 'epoch' AS day, n.id, n.received_at AS at, n.type, n.publisher,
                       ROW(n.sealed_by, n.body) AS body
                FROM notifications n
                WHERE (n.bucket, n.accepted_on, n.id) > (\(place.values)) AND n.store = \(.text(StorePlatform.roku.rawValue))
                ORDER BY n.bucket, n.accepted_on, n.id
                LIMIT \(unescaped: pageSize)
                """
        } text: {
            message(try $0.open("body", as: Private<[UInt8]>.self).value) ?? []
        } erasure: { found in
            """
            DELETE FROM notifications n
            USING \(.ids(try found.map { try $0.validationID() }), as: "i")
            WHERE \(.sameID("n", "i"))
            """
        }
    }

    /// Details of billing customers. Erasure empties them. Contracts stay, under the ids that the publisher knows.
    static let billingCustomers = MentioningRows { last in
        let (bucket, id) = (try last?.get("bucket") ?? -1 as Int16, try last?.get("id") ?? "")
        return """
            SELECT c.bucket, c.id, c.created_at AS at, c.publisher, ROW(c.sealed_by, c.details) AS details
            FROM billing_customers c
            WHERE (c.bucket, c.id) > (\(.int2(bucket)), \(.text(id)))
            ORDER BY c.bucket, c.id
            LIMIT \(unescaped: pageSize)
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

    private static let pageSize = "500"
}

/// A text from outside that mentions a customer.
public struct CustomerMention: Sendable {
    public var at: Timestamp
    /// Nil for an event of the shared account at Cleeng.
    public var publisher: PublisherID?
    /// Topic of the event, type of the notification, or id of the billing customer.
    public var name: String
    public var text: Private<String>

    fileprivate init(_ row: PostgresRow, name: String, text: [UInt8]) throws {
        at = try row.timestamp("at")
        publisher = try row.get("publisher", as: String?.self).map { PublisherID($0) }
        self.name = name
        self.text = Private(String(decoding: text, as: UTF8.self))
    }
}

extension CustomerStore {
    /// Number of erased rows, and of rows that cannot be opened.
    typealias ErasedMentions = (erased: Int, unreadable: Int)

    /// Cleeng's events that mention an email. One that cannot be opened is left out.
    public func events(mentioning email: CustomerID) async throws -> [CustomerMention] {
        try await list(.events, mentioning: email) { try $0.get("topic") }
    }

    /// Roku's notifications that mention an email. One that cannot be opened is left out.
    ///
    /// - Parameter message: reads the text of a body.
    public func rokuNotifications(
        mentioning email: CustomerID, message: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) async throws -> [CustomerMention] {
        try await list(.rokuNotifications(message), mentioning: email) { try $0.get("type") }
    }

    /// Billing customers whose details mention an email. One that cannot be opened is left out.
    public func billingCustomers(mentioning email: CustomerID) async throws -> [CustomerMention] {
        try await list(.billingCustomers, mentioning: email) { try $0.billingID("id").description }
    }

    func erase(_ rows: MentioningRows, mentioning email: CustomerID) async throws -> ErasedMentions {
        var erased = 0
        let unreadable = try await find(rows, mentioning: email) { found in
            erased += try await database.query(try rows.erasure(found)).affectedRows
        }
        return (erased, unreadable)
    }

    private func list(
        _ rows: MentioningRows, mentioning email: CustomerID, name: (PostgresRow) throws -> String
    ) async throws -> [CustomerMention] {
        var mentions: [CustomerMention] = []
        _ = try await find(rows, mentioning: email) { found in
            mentions += try found.map { try CustomerMention($0, name: name($0), text: rows.text($0)) }
        }
        return mentions
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
