import Foundation
import Postgres
import RelayCore

/// A page of old validations, and the removal of references to them from tables without partitions.
///
/// A subscription's reference to its owner's validation stays. There are only as many as there are subscriptions, and
/// changing one requires only its own row.
enum PointerPage {
    static let size: Int32 = 2_000

    /// Position of a walk through a partition: a primary key.
    struct Place: Sendable {
        var bucket: Int16
        var day: Int32
        var id: UUID

        static let start = Place(bucket: -1, day: 0, id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))

        /// Values to compare with a row's bucket, day of acceptance and id.
        var values: SQL { "\(.int2(bucket)), DATE 'epoch' + \(.int4(day)), \(.uuid(id))" }
    }

    /// Selects a page and removes the references to it. Skips purchases that an app is sending again: without their
    /// validation they start anew. Indexes used: the partition's primary key, `purchases_pkey`, `transfers_pkey`.
    ///
    /// - Parameters:
    ///   - source: the table or partition.
    ///   - condition: selects the rows, in the order of the primary key.
    ///   - removes: whether the validations are deleted too; else they are dropped with their partition.
    private static func sql(of source: SQL, where condition: SQL, removes: Bool) -> SQL {
        let removal: SQL = """
            , removed AS (
                DELETE FROM \(source) v
                USING page
                WHERE v.bucket = page.bucket AND v.accepted_on = page.accepted_on AND v.id = page.id
            )
            """
        return """
            WITH page AS MATERIALIZED (
                SELECT v.bucket, v.accepted_on, v.id, v.publisher, v.environment, v.subscription_key, v.purchase_key
                FROM \(source) v
                WHERE \(condition)
                ORDER BY v.bucket, v.accepted_on, v.id
                LIMIT \(unescaped: "\(size)")
            ), bought AS (
                DELETE FROM purchases p
                USING (
                    SELECT q.bucket, q.key
                    FROM page
                    JOIN purchases q ON q.key = page.purchase_key AND q.id = page.id
                         AND q.bucket = CASE WHEN octet_length(page.purchase_key) > 0 THEN get_byte(page.purchase_key, 0) END
                    FOR UPDATE OF q SKIP LOCKED
                ) AS q
                WHERE p.bucket = q.bucket AND p.key = q.key
            ), moved AS (
                DELETE FROM transfers t
                USING page
                WHERE t.bucket = page.bucket AND t.publisher = page.publisher AND t.environment = page.environment
                  AND t.subscription_key = page.subscription_key AND t.to_id = page.id
            )\(removes ? removal : "")
            SELECT page.bucket, page.accepted_on - DATE 'epoch' AS day, page.id
            FROM page
            ORDER BY page.bucket, page.accepted_on, page.id
            """
    }

    /// The rows of a weekly partition after `place`.
    static func after(_ place: Place, in partition: WeeklyPartition) -> SQL {
        sql(
            of: SQL(unescaped: partition.name), where: "(v.bucket, v.accepted_on, v.id) > (\(place.values))",
            removes: false)
    }

    /// Rows of one bucket in the default partition that are past the limit and not pursued. They are deleted.
    static func ofDefault(bucket: Int16, before day: Int) -> SQL {
        sql(
            of: "validations_default",
            where: """
                v.bucket = \(.int2(bucket)) AND v.accepted_on < DATE 'epoch' + \(.int4(Int32(clamping: day)))
                AND NOT EXISTS (SELECT FROM pursuits p WHERE p.bucket = v.bucket AND p.id = v.id)
                """, removes: true)
    }

    static func place(of row: PostgresRow) throws -> Place {
        Place(bucket: try row.get("bucket"), day: try row.get("day"), id: try row.get("id"))
    }
}

extension PointerPage.Place {
    /// Form stored in a duty's progress, with the partition.
    func text(in partition: WeeklyPartition) -> String {
        "\(partition.name) \(bucket) \(day) \(id.uuidString)"
    }

    /// Nil if there is no progress, or it belongs to another partition.
    init?(_ text: String?, in partition: WeeklyPartition) {
        let parts = (text ?? "").split(separator: " ")
        guard parts.count == 4, parts[0] == partition.name, let bucket = Int16(parts[1]), let day = Int32(parts[2]),
            let id = UUID(uuidString: String(parts[3]))
        else { return nil }
        self.init(bucket: bucket, day: day, id: id)
    }
}
