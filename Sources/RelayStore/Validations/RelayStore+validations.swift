import Foundation
import Postgres
public import RelayCore

extension RelayStore {
    static let validationColumns =
        "v.bucket, v.accepted_on - DATE 'epoch', v.id, v.publisher, v.app, ROW(v.sealed_by, v.email), ROW(v.sealed_by, v.customer), v.offer_id, v.status, v.reason, v.late, v.accepted_at, v.deadline, v.settled_at, v.expires_at"

    /// Index used: the partition's primary key; the day in the id leaves one partition to look in.
    private static let oneSQL = """
        SELECT \(validationColumns), clock_timestamp()
        FROM validations v
        WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3
        """

    private static let manySQL = """
        SELECT \(validationColumns), clock_timestamp()
        FROM unnest($1::int2[], $2::int4[], $3::uuid[]) AS i(bucket, day, id)
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        """

    /// As it may be told now: judged by the database's clock. Nil for an unknown id.
    public func validation(_ id: ValidationID) async throws -> Validation? {
        try await known(id)?.validation
    }

    /// The same for ops. Nil also for one outside the scope.
    public func validation(_ id: ValidationID, in scope: OpsScope) async throws -> Validation? {
        guard let found = try await validation(id), scope.contains(found.publisher) else { return nil }
        return found
    }

    /// The same, for those of whom there are thousands.
    public func known(_ id: ValidationID) async throws -> KnownValidation? {
        let sent = ContinuousClock.now
        return try known(in: try await pool.query(PostgresQuery(Self.oneSQL, id.key)), sent: sent)
    }

    /// Not inlined: what it needs for a moment, each read that is waited for would keep.
    @inline(never)
    private func known(in rows: PostgresRows, sent: ContinuousClock.Instant) throws -> KnownValidation? {
        guard let row = rows.first else { return nil }
        clock.observe(try row.timestamp(15), sent: sent)
        return KnownValidation(try Self.validation(row))
    }

    /// The same for those who ask again and again: a settled one comes from memory (see ``SettledCache``), any other from
    /// the database.
    public func polled(_ id: ValidationID) async throws -> KnownValidation? {
        if let known = settled(id) { return known }
        let ticket = settled.ticket()
        guard let read = try await known(id) else { return nil }
        settled.keep(read, read: ticket)
        return read
    }

    /// From memory alone: nil does not mean that there is none.
    public func settled(_ id: ValidationID) -> KnownValidation? {
        settled.answer(id)
    }

    /// Those that exist, in no particular order.
    public func validations(_ ids: [ValidationID]) async throws -> [Validation] {
        try await pool.query(
            PostgresQuery(
                Self.manySQL,
                [
                    .int2Array(ids.map { Int16($0.bucket.number) }), .int4Array(ids.map { Int32($0.day) }),
                    .uuidArray(ids.map(\.uuid)),
                ])
        ).map(Self.validation)
    }

    static func validation(_ row: PostgresRow) throws -> Validation {
        try stored(row).judged(at: row.timestamp(15))
    }

    /// The row as it stands, deadline or not.
    static func stored(_ row: PostgresRow) throws -> Validation {
        Validation(
            id: try row.validationID(bucket: 0, day: 1, id: 2), publisher: try row.get(3), app: try row.get(4),
            email: try row.open(5), customer: try row.open(6), offerID: try row.get(7), status: try row.status(8),
            reason: try row.get(9), late: try row.get(10), acceptedAt: try row.timestamp(11),
            deadline: try row.timestamp(12), settledAt: try row.timestampIfSet(13),
            expiresAt: try row.timestampIfSet(14))
    }
}
