import Postgres
import RelayCore

/// What one copy does for all, for as long as it says so.
public struct Duty: Sendable {
    public enum Name: String, Sendable {
        case retention
        case grantCheck = "grant_check"
        case missedNotifications = "missed_notifications"
        case missedSandboxNotifications = "missed_sandbox_notifications"
    }

    /// The duty was not held on to in time, and somebody else has it.
    struct Lost: Error {}

    static let lease = Duration.seconds(30)

    let name: Name
    let fence: Int64
    /// How far whoever held it before had come.
    let progress: String?
}

extension RelayStore {
    /// Nil while another copy has it.
    func take(_ name: Duty.Name) async throws -> Duty? {
        try await pool.query(
            """
            INSERT INTO duties AS d (name, holder, fence, expires_at)
            VALUES (\(.text(name.rawValue)), \(.text(instance)), 1, now() + \(Duty.lease))
            ON CONFLICT (name) DO UPDATE SET
                holder = excluded.holder, fence = d.fence + 1, expires_at = excluded.expires_at
            WHERE d.expires_at <= now()
            RETURNING d.fence, d.progress
            """
        ).first.map { Duty(name: name, fence: try $0.get("fence"), progress: try $0.get("progress")) }
    }

    private func isHeld(_ duty: Duty) -> SQL {
        "d.name = \(.text(duty.name.rawValue)) AND d.holder = \(.text(instance)) AND d.fence = \(.int8(duty.fence))"
    }

    /// In every transaction that is done under the duty, before anything else. Locks the duty's row until the end of the transaction.
    ///
    /// - Parameter progress: what is remembered with the transaction's commit.
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

    /// Holds on to it, outside of any transaction.
    ///
    /// - Throws: ``Duty/Lost``.
    func keep(_ duty: Duty, progress: String? = nil) async throws {
        try await pool.withTransaction { try await keep(duty, progress: progress, in: $0) }
    }

    /// The next copy need not wait for the lease to run out.
    ///
    /// - Parameter pause: for which it has to wait nevertheless.
    func leave(_ duty: Duty, for pause: Duration = .zero) async throws {
        _ = try await pool.query(
            "UPDATE duties d SET expires_at = now() + \(pause) WHERE \(isHeld(duty))")
    }
}
