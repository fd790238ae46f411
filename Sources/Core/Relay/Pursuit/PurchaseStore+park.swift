import Foundation
import Logging
import Metrics
import Postgres
import RelayCore

/// A pursuit that no worker can process, by the columns of its own row, since even its id may be unreadable.
struct PoisonRow: Sendable {
    let bucket: Int16
    let id: UUID
    let fence: Int32
    /// The reason, without any content of the row.
    let why: String

    /// - Throws: if the key's columns cannot be read, which the schema prevents.
    init(_ row: PostgresRow, _ error: any Error) throws {
        bucket = try row.get("bucket")
        id = try row.get("id")
        fence = try row.get("fence")
        why = Self.describe(error)
    }

    init(_ claimed: ClaimedPursuit, why: String) {
        bucket = Int16(claimed.id.bucket.number)
        id = claimed.id.uuid
        fence = claimed.fence
        self.why = why
    }

    static func describe(_ error: any Error) -> String {
        (error as? PostgresError).map { "its row cannot be read (\($0.shortDescription)): \($0.serverMessage)" }
            ?? "\(error)"
    }
}

extension PurchaseStore {
    /// Parks rows for an operator's retry. A parked row has no `owner`, and no claim selects it.
    private func park(_ rows: SQLTable) -> SQL {
        """
        WITH held AS MATERIALIZED (
            -- In the order of ``ours``, and even where the lease has run out.
            SELECT p.bucket, p.id, i.why
            FROM \(rows, as: "i")
            JOIN pursuits p ON p.bucket = i.bucket AND p.id = i.id AND p.fence = i.fence AND p.owner IS NOT NULL
            ORDER BY p.bucket, p.id
            FOR UPDATE OF p
        ), parked AS (
            UPDATE pursuits p
            SET phase = \(Pursuit.Phase.parked), owner = NULL, sending = false, fence = p.fence + 1, parked_at = now(),
                trouble = held.why
            FROM held
            WHERE p.bucket = held.bucket AND p.id = held.id
            RETURNING p.bucket, p.accepted_on, p.id, p.fence, p.trouble
        ), noted AS (
            INSERT INTO timeline (bucket, accepted_on, id, fence, ordinal, at, event, instance, detail)
            SELECT bucket, accepted_on, id, fence, 0, now(), \(TimelineEvent.Kind.parked), \(.text(memory.instance)), trouble
            FROM parked
        )
        SELECT id::text FROM parked
        """
    }

    private func park(_ rows: [PoisonRow]) async throws {
        let parked = try await database.query(
            park([
                "bucket": .int2Array(rows.map(\.bucket)), "id": .uuidArray(rows.map(\.id)),
                "fence": .int4Array(rows.map(\.fence)), "why": .textArray(rows.map { $0.why.bounded(200) }),
            ]))
        guard !parked.isEmpty else { return }
        Counter(label: "relay_pursuits_parked").increment(by: parked.count)
        memory.logger.error(
            "pursuits are parked for an operator",
            metadata: ["count": .stringConvertible(parked.count), "reason": "\(rows[0].why)"])
    }

    /// Parks a pursuit whose data cannot be processed, so that it does not affect others.
    public func park(_ claimed: ClaimedPursuit, why: String) async throws {
        try await park([PoisonRow(claimed, why: why)])
    }

    /// Parks all rows in one statement, or one by one if that fails. A row that cannot be parked now is claimed again
    /// after its lease.
    func isolate(_ rows: [PoisonRow]) async {
        do {
            try await park(rows)
        } catch {
            guard rows.count > 1 else {
                memory.logger.error("a pursuit cannot even be parked", metadata: ["error": "\(error)"])
                return
            }
            for row in rows { await isolate([row]) }
        }
    }

    /// Records why the work on a claim failed. The row stays claimed until its lease expires, which is the pause before
    /// the next try.
    public func note(trouble: String, of claimed: ClaimedPursuit) async throws {
        _ = try await database.query(
            """
            UPDATE pursuits p SET trouble = \(.text(trouble.bounded(200)))
            WHERE p.bucket = \(.int2(Int16(claimed.id.bucket.number))) AND p.id = \(.uuid(claimed.id.uuid))
              AND p.fence = \(.int4(claimed.fence)) AND p.owner IS NOT NULL
            """, timeout: .seconds(2))
    }
}
