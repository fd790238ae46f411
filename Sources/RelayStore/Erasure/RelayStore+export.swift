import Foundation
import Postgres
public import RelayCore

extension RelayStore {
    private static let receiptSQL = """
        SELECT ROW(v.sealed_by, v.ip_address), r.is_text, ROW(r.sealed_by, r.body)
        FROM validations v
        LEFT JOIN receipts r ON r.bucket = v.bucket AND r.accepted_on = v.accepted_on AND r.id = v.id
        WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3
        """

    /// What the app sent as its receipt, nil where it is no longer kept; and from where.
    public func whatWasSent(_ id: ValidationID) async throws -> (
        receipt: Acceptance.Receipt?, ipAddress: Private<String>?
    ) {
        guard let row = try await pool.query(PostgresQuery(Self.receiptSQL, id.key)).first else { return (nil, nil) }
        let receipt = try row.open(2, as: Private<[UInt8]>?.self).map { bytes in
            Acceptance.Receipt(isText: try row.get(1), bytes: bytes)
        }
        return (receipt, try row.open(0))
    }

    /// Index used: `webhook_deliveries_lane`.
    private static let messageSQL = """
        SELECT d.created_at, ROW(d.sealed_by, d.body) FROM webhook_deliveries d
        WHERE d.bucket = $1 AND d.lane = $2 AND d.publisher = $3
        ORDER BY d.created_at DESC
        LIMIT 1000
        """

    /// What endpoints were told of a customer, the newest first, a thousand at most.
    public func messages(about name: CustomerName) async throws -> [(at: Timestamp, body: Private<String>)] {
        try await pool.query(
            PostgresQuery(
                Self.messageSQL,
                [.int2(Int16(name.bucket.number)), .privateText(name.username), .text(name.publisher)])
        ).map { (try $0.timestamp(0), try $0.open(1)) }
    }
}
