import Postgres
public import RelayCore

extension PurchaseStore {
    /// Claims pursuits that wait for this statement of Cleeng, if Cleeng has accepted the purchase and no worker has
    /// claimed the pursuit.
    ///
    /// - Returns: the claimed pursuits, and how many more could not be claimed now.
    public func claimWaiting(
        for statement: UpstreamStatement, of subject: EventSubject, lease: Duration
    ) async throws -> (claimed: [ClaimedPursuit], left: Int) {
        let rows = try await database.query(Self.waiting(for: statement, of: subject))
        guard !rows.isEmpty else { return ([], 0) }
        let claimed = try await claimSent(
            buckets: try rows.map { try $0.get("bucket") }, ids: try rows.map { try $0.get("id") }, lease: lease)
        return (claimed, rows.count - claimed.count)
    }

    /// Selects a customer's pursuits that a statement concerns. A grant concerns all pursuits of the offer. A rejection
    /// concerns those with the synchronization that Cleeng names. If it names none, it concerns those that are
    /// forwarding or watching. A purchase that was accepted after the event had arrived is another one. Indexes used:
    /// `validations_customer`, the primary key of `pursuits`.
    private static func waiting(for statement: UpstreamStatement, of subject: EventSubject) -> SQL {
        let waits: SQL = """
            offer_id = \(.text(subject.offerID))
            AND status IN (\(ValidationStatus.pending), \(ValidationStatus.timedOut))
            AND \(subject.scope.includes("publisher"))
            """
        let synchronization = PostgresValue.text(statement.synchronization)
        return """
            SELECT p.bucket, p.id
            FROM (
                SELECT bucket, id FROM validations WHERE customer = \(.privateText(subject.customer)) AND \(waits)
            ) AS v
            JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id AND p.phase <> \(Pursuit.Phase.parked)
                 AND p.accepted_at <= \(.timestamptz(statement.saidAt.postgres))
            WHERE \(.bool(statement.isGrant))
               OR (p.phase IN (\(Pursuit.Phase.forwarding), \(Pursuit.Phase.watching)) AND \(synchronization) IS NULL)
               OR (p.phase IN \(Pursuit.Phase.synchronizing) AND p.synchronization = \(synchronization))
            LIMIT 200
            """
    }
}
