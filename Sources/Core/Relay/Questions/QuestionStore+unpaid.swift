import Postgres
public import RelayCore

/// Purchases that an app posted before they were paid, in cash for example. Cleeng did not grant them then.
extension QuestionStore {
    /// Limit of customers and offers for which one purchase is sent again.
    private static let mostUnpaid: Int32 = 8

    /// Sends purchases to Cleeng once more that were not paid when an app posted them, after their store says that they
    /// run. Index used: `validations_subscription`.
    ///
    /// - Returns: whether one is still being sent or waited for: then this must be called again.
    public func sendPaid(_ key: TransactionID, of publisher: PublisherID) async throws -> Bool {
        let rows = try await database.query(
            """
            SELECT DISTINCT ON (v.customer, v.offer_id)
                   v.bucket, v.accepted_on - DATE 'epoch' AS day, v.id, v.status = \(ValidationStatus.pending) AS is_pending
            FROM validations v
            WHERE v.bucket = \(.int2(Int16(Bucket(of: publisher, key).number))) AND v.subscription_key = \(.text(key))
              AND v.publisher = \(.text(publisher)) AND v.verification = \(Verification.Result.notGenuine)
              AND v.verification_detail LIKE \(.text("%" + Verification.unpaid))
              AND v.status IN \([ValidationStatus.pending, .timedOut, .rejected]) AND v.reason IS DISTINCT FROM 'abandoned'
            ORDER BY v.customer, v.offer_id, v.accepted_at DESC
            LIMIT \(.int4(Self.mostUnpaid))
            """)
        var isLeft = false
        for row in rows {
            guard try !row.get("is_pending", as: Bool.self), try await send(try row.validationID()) else {
                isLeft = true
                continue
            }
        }
        return isLeft
    }

    /// - Returns: false if it is being sent now.
    private func send(_ id: ValidationID) async throws -> Bool {
        do {
            _ = try await relay.ops.retry(id, in: .all, by: "the store", reason: "it was paid later")
            database.afterCommit { memory.signal(.purchases) }
        } catch OpsRefusal.busy {
            return false
        } catch is OpsRefusal {
            // A newer request was sent, or its receipt is no longer kept.
        }
        // Not sooner: what is sent twice costs less than what is never sent.
        _ = try await database.query(
            """
            UPDATE validations v
            SET verification = \(Verification.Result.genuine), verification_code = NULL, verification_detail = NULL
            WHERE \(id.isKey(of: "v"))
            """)
        return true
    }
}
