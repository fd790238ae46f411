import Foundation
import Postgres
public import RelayCore

extension Validation {
    /// Columns of `validations v`, or of rows with the same columns, for ``PurchaseStore/stored(_:)``.
    static let columns: SQL = """
        v.bucket, v.accepted_on - DATE 'epoch' AS day, v.id, v.publisher, v.app, ROW(v.sealed_by, v.email) AS email,
               ROW(v.sealed_by, v.customer) AS customer, v.offer_id, v.status, v.reason, v.late, v.accepted_at, v.deadline,
               v.settled_at, v.expires_at
        """
}

extension PurchaseStore {
    /// Selects a validation. Index used: the partition's primary key; the day in the id selects the partition.
    private static func one(_ id: ValidationID) -> SQL {
        "SELECT \(Validation.columns), clock_timestamp() AS now FROM validations v WHERE \(id.isKey(of: "v"))"
    }

    private static func many(_ ids: [ValidationID]) -> SQL {
        """
        SELECT \(Validation.columns), clock_timestamp() AS now
        FROM \(SQLTable.ids(ids), as: "i")
        CROSS JOIN LATERAL (SELECT * FROM validations v WHERE \(.sameID("v", "i")) OFFSET 0) AS v
        """
    }

    /// The validation judged at the present time of the database's clock. Nil for an unknown id.
    public func validation(_ id: ValidationID) async throws -> Validation? {
        try await known(id)?.validation
    }

    /// The validation for operators. Nil also if it is outside the scope.
    public func validation(_ id: ValidationID, in scope: OpsScope) async throws -> Validation? {
        guard let found = try await validation(id), scope.contains(found.publisher) else { return nil }
        return found
    }

    /// The validation in compact form, since thousands may be kept at once.
    public func known(_ id: ValidationID) async throws -> KnownValidation? {
        let sent = ContinuousClock.now
        return try known(in: try await database.query(Self.one(id)), sent: sent)
    }

    /// Not inlined: every waiting read would keep its temporary memory.
    @inline(never)
    private func known(in rows: PostgresRows, sent: ContinuousClock.Instant) throws -> KnownValidation? {
        guard let row = rows.first else { return nil }
        memory.clock.observe(try row.timestamp("now"), sent: sent)
        return KnownValidation(try Self.validation(row))
    }

    /// The validation for repeated polls: a settled one comes from memory (see ``ValidationCache``), any other from the
    /// database.
    public func polled(_ id: ValidationID) async throws -> KnownValidation? {
        if let known = settled(id) { return known }
        let ticket = memory.validations.ticket()
        guard let read = try await known(id) else { return nil }
        memory.validations.keep(read, read: ticket)
        return read
    }

    /// The validation for a waiter that has registered for its changes (see ``ChangeHub``). A purchase accepted by this
    /// process is pending until a change is known.
    public func awaited(_ id: ValidationID) async throws -> KnownValidation? {
        if let known = memory.validations.pending(id), let now = memory.clock.now,
            now + Self.untrustedEnd < known.validation.deadline
        {
            return known
        }
        return try await polled(id)
    }

    /// Time before the deadline in which memory is not trusted, since the clock is an estimate of the database's.
    private static let untrustedEnd = Duration.seconds(2)

    /// A settled validation from the cache alone. Nil does not mean that there is none.
    public func settled(_ id: ValidationID) -> KnownValidation? {
        memory.validations.settled(id)
    }

    /// The validations that exist, in no particular order.
    public func validations(_ ids: [ValidationID]) async throws -> [Validation] {
        try await database.query(Self.many(ids)).map(Self.validation)
    }

    /// The validation of a row, judged at the time in the column `now`.
    static func validation(_ row: PostgresRow) throws -> Validation {
        try stored(row).judged(at: row.timestamp("now"))
    }

    /// The validation of a row, whether or not its deadline has passed.
    static func stored(_ row: PostgresRow) throws -> Validation {
        Validation(
            id: try row.validationID(), publisher: try row.get("publisher"), app: try row.get("app"),
            email: try row.open("email"), customer: try row.open("customer"), offerID: try row.get("offer_id"),
            status: try row.constant("status"), reason: try row.get("reason"), late: try row.get("late"),
            acceptedAt: try row.timestamp("accepted_at"), deadline: try row.timestamp("deadline"),
            settledAt: try row.timestampIfSet("settled_at"), expiresAt: try row.timestampIfSet("expires_at"))
    }
}
