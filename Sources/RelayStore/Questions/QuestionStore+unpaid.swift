import Postgres
public import RelayCore

/// Purchases that an app posted before they were paid, in cash for example. Cleeng did not grant them then.
extension QuestionStore {
    /// Limit of customers and offers for which one purchase is sent again.
    private static let mostUnpaid: Int32 = 8

    /// Sends purchases to Cleeng once more that were not paid when an app posted them, after their store says that they
    /// run. Those that still wait are read anyway. Index used: `validations_subscription`.
    ///
    /// - Returns: how many are sent.
    public func sendPaid(_ key: TransactionID, of publisher: PublisherID) async throws -> Int {
        let rows = try await database.query(
            """
            SELECT DISTINCT ON (v.customer, v.offer_id) v.bucket, v.accepted_on - DATE 'epoch' AS day, v.id
            FROM validations v
            WHERE v.bucket = \(.int2(Int16(Bucket(of: publisher, key).number))) AND v.subscription_key = \(.text(key))
              AND v.publisher = \(.text(publisher)) AND v.verification = \(Verification.Result.notGenuine)
              AND v.verification_detail LIKE \(.text("%" + Verification.unpaid))
              AND v.status IN \([ValidationStatus.timedOut, .rejected])
            ORDER BY v.customer, v.offer_id, v.accepted_at DESC
            LIMIT \(.int4(Self.mostUnpaid))
            """)
        var sent = 0
        for id in try rows.map({ try $0.validationID() }) {
            do {
                _ = try await relay.ops.retry(id, in: .all, by: "the store", reason: "it was paid later")
                sent += 1
            } catch is OpsRefusal {
                // It is being sent, a newer request was sent, or its receipt is no longer kept.
            }
            // Not sooner: what is sent twice costs less than what is never sent.
            _ = try await database.query(
                """
                UPDATE validations v
                SET verification = \(Verification.Result.genuine), verification_code = NULL, verification_detail = NULL
                WHERE \(id.isKey(of: "v"))
                """)
        }
        if sent > 0 { database.afterCommit { memory.signal(.purchases) } }
        return sent
    }
}
