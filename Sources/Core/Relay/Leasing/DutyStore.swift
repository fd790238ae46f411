import Postgres
import RelayCore

/// A job that one copy does for all copies while it holds the lease.
public struct Duty: Sendable {
    public enum Name: String, Sendable {
        case retention
        case grantCheck = "grant_check"
        case missedNotifications = "missed_notifications"
        case missedSandboxNotifications = "missed_sandbox_notifications"
    }

    /// The lease expired and another copy took the duty.
    struct Lost: Error {}

    static let lease = Duration.seconds(30)
    /// Twice the longest pause, that of missed notifications.
    static let longestLease = Duration.seconds(2 * 86_400)

    let name: Name
    let fence: Int64
    /// Progress stored by the previous holder.
    let progress: String?
}

extension DutyStore {
    /// Nil while another copy holds the duty. A lease that ends later than any pause was written while the database's
    /// clock was ahead, and does not count.
    func take(_ name: Duty.Name) async throws -> Duty? {
        try await database.query(
            """
            INSERT INTO duties AS d (name, holder, fence, expires_at)
            VALUES (\(.text(name.rawValue)), \(.text(memory.instance)), 1, now() + \(Duty.lease))
            ON CONFLICT (name) DO UPDATE SET
                holder = excluded.holder, fence = d.fence + 1, expires_at = excluded.expires_at
            WHERE d.expires_at <= now() OR d.expires_at > now() + \(Duty.longestLease)
            RETURNING d.fence, d.progress
            """
        ).first.map { Duty(name: name, fence: try $0.get("fence"), progress: try $0.get("progress")) }
    }

    private func isHeld(_ duty: Duty) -> SQL {
        "d.name = \(.text(duty.name.rawValue)) AND d.holder = \(.text(memory.instance)) AND d.fence = \(.int8(duty.fence))"
    }

    /// Renews the lease; the first statement in each transaction under the duty. Locks the duty's row until the
    /// transaction ends.
    ///
    /// - Parameter progress: stored with the transaction's commit.
    /// - Throws: ``Duty/Lost``.
    func keep(_ duty: Duty, progress: String? = nil, in transaction: PostgresTransaction) async throws {
        let kept = try await transaction.query(
            """
            UPDATE duties d
            SET expires_at = now() + \(Duty.lease), progress = coalesce(\(.text(progress)), d.progress)
            WHERE \(isHeld(duty))
            """)
        guard kept.affectedRows == 1 else { throw Duty.Lost() }
    }

    /// Renews the lease in its own transaction.
    ///
    /// - Throws: ``Duty/Lost``.
    func keep(_ duty: Duty, progress: String? = nil) async throws {
        try await database.withTransaction { try await keep(duty, progress: progress, in: $0) }
    }

    /// Releases the lease.
    ///
    /// - Parameter pause: time until another copy may take it.
    func release(_ duty: Duty, for pause: Duration = .zero) async throws {
        _ = try await database.query(
            "UPDATE duties d SET expires_at = now() + \(pause) WHERE \(isHeld(duty))")
    }
}
