import Foundation
import Postgres
import RelayCore

/// Rows that mention a customer somewhere in a text that is kept as it came: they are found by reading all of them.
extension RelayStore {
    private static let pageSize: Int32 = 500

    /// Index used: the primary key.
    private static let eventsSQL = """
        SELECT e.bucket, e.accepted_on - DATE 'epoch', e.id, ROW(e.sealed_by, e.body)
        FROM cleeng_events e
        WHERE (e.bucket, e.accepted_on, e.id) > ($1, DATE 'epoch' + $2::int4, $3)
        ORDER BY e.bucket, e.accepted_on, e.id
        LIMIT \(pageSize)
        """

    private static let eraseEventsSQL = """
        DELETE FROM cleeng_events e
        USING unnest($1::int2[], $2::int4[], $3::uuid[]) AS i(bucket, day, id)
        WHERE e.bucket = i.bucket AND e.accepted_on = DATE 'epoch' + i.day AND e.id = i.id
        """

    /// - Returns: how many events of Cleeng's went.
    func eraseEvents(mentioning email: CustomerID) async throws -> Int {
        var place = PointerPage.Place.start
        var erased = 0
        while true {
            let rows = try await pool.query(
                PostgresQuery(Self.eventsSQL, [.int2(place.bucket), .int4(place.day), .uuid(place.id)]))
            guard let last = rows.last else { return erased }
            place = try PointerPage.place(of: last)
            let found = try rows.filter { try Self.mentions(email, in: $0.open(3, as: Private<[UInt8]>.self).value) }
            guard !found.isEmpty else { continue }
            erased += try await pool.query(
                PostgresQuery(
                    Self.eraseEventsSQL,
                    [
                        .int2Array(try found.map { try $0.get(0) }), .int4Array(try found.map { try $0.get(1) }),
                        .uuidArray(try found.map { try $0.get(2) }),
                    ])
            ).affectedRows
        }
    }

    /// Index used: the primary key.
    private static let billingCustomersSQL = """
        SELECT c.bucket, c.id, ROW(c.sealed_by, c.details) FROM billing_customers c
        WHERE (c.bucket, c.id) > ($1, $2)
        ORDER BY c.bucket, c.id
        LIMIT \(pageSize)
        """

    private static let eraseBillingSQL = """
        UPDATE billing_customers c SET details = $3, sealed_by = $4
        FROM unnest($1::int2[], $2::text[]) AS i(bucket, id)
        WHERE c.bucket = i.bucket AND c.id = i.id
        """

    /// Their contracts stay, under the ids that the publisher knows.
    ///
    /// - Returns: of how many what was given of them went.
    func eraseBillingCustomers(mentioning email: CustomerID) async throws -> Int {
        var place: (bucket: Int16, id: String) = (-1, "")
        var erased = 0
        while true {
            let rows = try await pool.query(
                PostgresQuery(Self.billingCustomersSQL, [.int2(place.bucket), .text(place.id)]))
            guard let last = rows.last else { return erased }
            place = (try last.get(0), try last.get(1))
            let found = try rows.filter {
                try Self.mentions(email, in: Array($0.open(2, as: Private<String>.self).value.utf8))
            }
            guard !found.isEmpty else { continue }
            erased += try await pool.query(
                PostgresQuery(
                    Self.eraseBillingSQL,
                    [
                        .int2Array(try found.map { try $0.get(0) }),
                        .textArray(try found.map { try $0.get(1, as: String.self) }),
                        .privateText("{}"), .keyOfTexts,
                    ])
            ).affectedRows
        }
    }

    /// Without regard to the case of ASCII letters.
    private static func mentions(_ email: CustomerID, in body: [UInt8]) -> Bool {
        let text = String(decoding: body, as: UTF8.self).asciiLowercased()
        return Array(text.utf8).contains(Array(email.text.asciiLowercased().utf8))
    }
}
