import Foundation
import Postgres
public import RelayCore

extension CustomerStore {
    /// The receipt that the app sent, nil if it is no longer stored, and the IP address that sent it.
    public func whatWasSent(_ id: ValidationID) async throws -> (
        receipt: Acceptance.Receipt?, ipAddress: Private<String>?
    ) {
        let rows = try await database.query(
            """
            SELECT ROW(v.sealed_by, v.ip_address) AS ip_address, r.is_text, ROW(r.sealed_by, r.body) AS body
            FROM validations v
            LEFT JOIN receipts r ON r.bucket = v.bucket AND r.accepted_on = v.accepted_on AND r.id = v.id
            WHERE v.bucket = \(.int2(Int16(id.bucket.number))) AND v.accepted_on = DATE 'epoch' + \(.int4(Int32(id.day)))
              AND v.id = \(.uuid(id.uuid))
            """)
        guard let row = rows.first else { return (nil, nil) }
        let receipt = try row.open("body", as: Private<[UInt8]>?.self).map { bytes in
            Acceptance.Receipt(isText: try row.get("is_text"), bytes: bytes)
        }
        return (receipt, try row.open("ip_address"))
    }

    /// Messages about a customer that were queued for endpoints, newest first, a thousand at most. Index used:
    /// `webhook_deliveries_lane`.
    public func messages(about name: CustomerName) async throws -> [(at: Timestamp, body: Private<String>)] {
        try await database.query(
            """
            SELECT d.created_at, ROW(d.sealed_by, d.body) AS body FROM webhook_deliveries d
            WHERE d.bucket = \(.int2(Int16(name.bucket.number))) AND d.lane = \(.privateText(name.username))
              AND d.publisher = \(.text(name.publisher))
            ORDER BY d.created_at DESC
            LIMIT 1000
            """
        ).map { (try $0.timestamp("created_at"), try $0.open("body")) }
    }
}
