import Postgres
public import RelayCore

extension ConsumptionStore {
    /// Returns the purchase that a request concerns, and whether it was delivered; nil if no buyer is known. Indexes
    /// used: the primary key of `subscriptions`, `validations_subscription`, `pursuits_subscription`.
    ///
    /// The customer is the present owner, who received the purchase even if the validation was deleted or has an
    /// earlier id. A claim by `/v1/validate` is no grant, so it is delivered only if nothing was sent to Cleeng. Without
    /// an owner, it is the last customer whose purchase neither Cleeng nor a signature check rejected, else the last one
    /// whose genuine purchase Cleeng rejected.
    public func purchase(of claimed: ClaimedConsumption) async throws -> ConsumedPurchase? {
        let name = claimed.name
        let isSame: SQL = """
            v.bucket = \(.int2(Int16(name.bucket.number))) AND v.subscription_key = \(.text(name.originalTransactionID))
            AND v.publisher = \(.text(name.publisher)) AND v.environment = \(.text(name.environment))
            """
        let wasGranted: SQL = "v.status IN \([ValidationStatus.granted, .revoked, .transferred])"
        let rows = try await database.query(
            """
            SELECT ROW(o.sealed_by, o.application_username) AS username,
                   o.is_delivered OR EXISTS (SELECT FROM validations v WHERE \(isSame) AND \(wasGranted)) AS is_delivered,
                   EXISTS (SELECT FROM pursuits p WHERE \(name.isKey(of: "p"))) AS is_open
            FROM (
                SELECT s.sealed_by, s.application_username, 1 AS rank, s.owned_since AS since,
                       s.id IS NOT NULL OR NOT EXISTS (SELECT FROM validations v WHERE \(isSame)) AS is_delivered
                FROM subscriptions s WHERE \(name.isKey(of: "s"))
                UNION ALL
                SELECT v.sealed_by, v.application_username,
                       CASE v.status WHEN \(ValidationStatus.rejected) THEN 3 ELSE 2 END, v.accepted_at, false
                FROM validations v
                WHERE \(isSame)
                  AND CASE v.status WHEN \(ValidationStatus.rejected)
                      THEN v.verification = \(.int2(Verification.Result.genuine.rawValue))
                      ELSE v.verification <> \(.int2(Verification.Result.notGenuine.rawValue)) END
            ) AS o
            ORDER BY o.rank, o.since DESC
            LIMIT 1
            """)
        guard let row = rows.first else { return nil }
        let customer = CustomerName(publisher: name.publisher, username: try row.open("username"))
        if customer.username != claimed.username { try await note(customer, of: claimed) }
        let delivery: ConsumptionAnswer.Delivery =
            if try row.get("is_delivered") { .delivered } else if try row.get("is_open") { .serverOutage } else {
                .other
            }
        return ConsumedPurchase(customer: customer, delivery: delivery)
    }

    /// Stores the customer's name, which connects the request with the publisher's facts.
    private func note(_ customer: CustomerName, of claimed: ClaimedConsumption) async throws {
        _ = try await database.query(
            """
            UPDATE consumption_requests r
            SET username = \(.privateText(customer.username)), sealed_by = \(.keyOfTexts)
            WHERE \(claimed.id.isKey(of: "r")) AND r.fence = \(.int4(claimed.row.fence))
            """)
    }

    /// The publisher's facts about a customer. Index used: the primary key.
    public func facts(of customer: CustomerName) async throws -> ConsumptionFacts? {
        try await database.query(
            """
            SELECT f.consented, f.sample, f.percentage, f.refund_preference, f.user_status
            FROM consumption_facts f
            WHERE f.bucket = \(.int2(Int16(customer.bucket.number))) AND f.publisher = \(.text(customer.publisher))
              AND f.username = \(.privateText(customer.username))
            """
        ).first.map { row in
            ConsumptionFacts(
                customerConsented: try row.get("consented"), sampleContentProvided: try row.get("sample"),
                consumptionPercentage: try row.get("percentage"),
                refundPreference: try row.get("refund_preference", as: String?.self).flatMap(
                    ConsumptionFacts.RefundPreference.init),
                userStatus: try row.get("user_status", as: String?.self).flatMap(ConsumptionFacts.UserStatus.init))
        }
    }

    /// Replaces the publisher's facts about a customer. Requests that wait for them become due at once. A request whose
    /// answer is being retried keeps its pause, and is sent with the newest facts. Indexes used: the primary key,
    /// `consumption_requests_customer`.
    public func keep(_ facts: ConsumptionFacts, of customer: CustomerName) async throws {
        let username = PostgresValue.privateText(customer.username)
        let kept: SQL = """
            INSERT INTO consumption_facts AS f (
                bucket, publisher, username, consented, sample, percentage, refund_preference, user_status, changed_at, sealed_by)
            VALUES (
                \(.int2(Int16(customer.bucket.number))), \(.text(customer.publisher)), \(username), \(.bool(facts.customerConsented)),
                \(.bool(facts.sampleContentProvided)), \(.int4(facts.consumptionPercentage.map { Int32($0) })),
                \(.text(facts.refundPreference?.rawValue)), \(.text(facts.userStatus?.rawValue)), now(), \(.keyOfTexts))
            ON CONFLICT (bucket, publisher, username) DO UPDATE SET
                consented = excluded.consented, sample = excluded.sample, percentage = excluded.percentage,
                refund_preference = excluded.refund_preference, user_status = excluded.user_status,
                changed_at = excluded.changed_at, sealed_by = excluded.sealed_by
            """
        let woken: SQL = """
            UPDATE consumption_requests r
            SET signals = r.signals + 1,
                due_at = CASE WHEN r.owner IS NULL AND r.state = \(.int2(ConsumptionState.awaitsConsent.rawValue)) THEN now()
                              ELSE r.due_at END
            WHERE r.publisher = \(.text(customer.publisher)) AND r.username = \(username) AND r.state <= 2 AND r.parked_at IS NULL
            """
        _ = try await database.withTransaction { try await $0.commit(with: [kept, woken]) }
    }
}

/// The purchase that Apple asks about, and whether it was delivered.
public struct ConsumedPurchase: Sendable, Equatable {
    public var customer: CustomerName
    public var delivery: ConsumptionAnswer.Delivery
}
