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
    private static let takeSQL = """
        INSERT INTO duties AS d (name, holder, fence, expires_at)
        VALUES ($1, $2, 1, now() + $3::int8 * interval '1 microsecond')
        ON CONFLICT (name) DO UPDATE SET
            holder = excluded.holder, fence = d.fence + 1, expires_at = excluded.expires_at
        WHERE d.expires_at <= now()
        RETURNING d.fence, d.progress
        """

    /// Locks the row until the end of the transaction.
    private static let keepSQL = """
        UPDATE duties d
        SET expires_at = now() + $4::int8 * interval '1 microsecond', progress = coalesce($5, d.progress)
        WHERE d.name = $1 AND d.holder = $2 AND d.fence = $3
        """

    private static let leaveSQL = """
        UPDATE duties d SET expires_at = now() + $4::int8 * interval '1 microsecond'
        WHERE d.name = $1 AND d.holder = $2 AND d.fence = $3
        """

    /// Nil while another copy has it.
    func take(_ name: Duty.Name) async throws -> Duty? {
        let row = try await pool.query(
            PostgresQuery(Self.takeSQL, [.text(name.rawValue), .text(instance), .int8(Duty.lease.microseconds)])
        ).first
        return try row.map { Duty(name: name, fence: try $0.get(0), progress: try $0.get(1)) }
    }

    /// In every transaction that is done under the duty, before anything else.
    ///
    /// - Parameter progress: what is remembered with the transaction's commit.
    /// - Throws: ``Duty/Lost``.
    func keep(_ duty: Duty, progress: String? = nil, in transaction: PostgresTransaction) async throws {
        let kept = try await transaction.query(
            PostgresQuery(
                Self.keepSQL,
                [
                    .text(duty.name.rawValue), .text(instance), .int8(duty.fence), .int8(Duty.lease.microseconds),
                    .text(progress),
                ]))
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
            PostgresQuery(
                Self.leaveSQL,
                [.text(duty.name.rawValue), .text(instance), .int8(duty.fence), .int8(pause.microseconds)]))
    }
}
