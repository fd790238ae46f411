import Postgres
import RelayCore

extension RelayStore {
    /// Indexes used: `purchases_pkey`, `idempotency_keys_pkey`, and for the validation its partition's primary key.
    private static let forgetSQL = """
        WITH gone AS (
            SELECT WHERE NOT EXISTS (
                SELECT FROM validations v
                WHERE v.bucket = $1 AND v.accepted_on = DATE 'epoch' + $2::int4 AND v.id = $3)
        ), bought AS (
            DELETE FROM purchases p
            WHERE p.bucket = get_byte($4, 0) AND p.key = $4 AND p.id = $3 AND EXISTS (SELECT FROM gone)
        )
        DELETE FROM idempotency_keys k
        WHERE k.bucket = $5 AND k.api_key = $6 AND k.key = $7 AND k.id = $3 AND EXISTS (SELECT FROM gone)
        """

    /// Forgets that a purchase, or its Idempotency-Key, is known by a validation that is no longer kept.
    public func forget(_ id: ValidationID, of acceptance: Acceptance) async throws {
        let key = acceptance.idempotencyKey
        _ = try await pool.query(
            PostgresQuery(
                Self.forgetSQL,
                id.key + [
                    .bytea(acceptance.purchaseKey), .int2(key.map { Int16($0.bucket.number) }), .text(key?.apiKey),
                    .bytea(key?.digest),
                ]))
    }
}
