import Postgres
import RelayCore

/// Word to a publisher that a customer's purchases changed. A newer change of a customer takes the place of an older one
/// that has not been told yet.
enum Outbox {
    private static let queueSQL = """
        INSERT INTO outbox AS o (bucket, publisher, customer, reason, accepted_on, id, queued_at)
        SELECT DISTINCT ON (i.bucket, i.publisher, i.customer)
               i.bucket, i.publisher, i.customer, i.reason, DATE 'epoch' + i.day, i.id, now()
        FROM unnest($1::int2[], $2::text[], $3::text[], $4::text[], $5::int4[], $6::uuid[])
             WITH ORDINALITY AS i(bucket, publisher, customer, reason, day, id, ordinal)
        ORDER BY i.bucket, i.publisher, i.customer, i.ordinal
        ON CONFLICT (bucket, publisher, customer) DO UPDATE SET
            reason = excluded.reason, accepted_on = excluded.accepted_on, id = excluded.id,
            queued_at = excluded.queued_at, version = o.version + 1
        """

    private struct Word {
        var publisher: String
        var customer: String
        var reason: String
        var id: ValidationID
    }

    static func queue(_ granted: [PursuitWrite], transfers: [Ownership.Transfer]) -> PostgresQuery {
        queue(
            granted.map {
                Word(
                    publisher: $0.claimed.publisher, customer: $0.claimed.customer, reason: "PURCHASED",
                    id: $0.claimed.id)
            }
                + transfers.map {
                    Word(publisher: $0.publisher, customer: $0.fromCustomer, reason: "OTHER", id: $0.from)
                })
    }

    /// Of subscriptions whose owners have something to hear.
    static func queue(_ heard: [LedgerHearing.Heard]) -> PostgresQuery {
        queue(
            heard.compactMap { heard in
                guard let owner = heard.owner, let id = heard.ownerValidation else { return nil }
                return Word(
                    publisher: heard.message.name.publisher, customer: owner.customer, reason: heard.reason, id: id)
            })
    }

    private static func queue(_ rows: [Word]) -> PostgresQuery {
        PostgresQuery(
            queueSQL,
            [
                .int2Array(rows.map { Int16(Bucket(of: $0.publisher, $0.customer).number) }),
                .textArray(rows.map(\.publisher)), .textArray(rows.map(\.customer)), .textArray(rows.map(\.reason)),
                .int4Array(rows.map { Int32($0.id.day) }), .uuidArray(rows.map(\.id.uuid)),
            ])
    }
}

extension LedgerHearing.Heard {
    /// As the publisher's webhooks name it.
    fileprivate var reason: String {
        switch shown?.status {
        case .revoked: shown?.reason == "family_revoked" ? "REVOKED" : "REFUNDED"
        case .expired, .inBillingRetry: "EXPIRED"
        case .inGrace: "ENTERED_GRACE_PERIOD"
        case .active where before.expiresAt != shown?.expiresAt || hasNewStatus: "RENEWED"
        case .active where before.willRenew != shown?.willRenew:
            shown?.willRenew == false ? "WILL_LAPSE" : "WILL_AUTO_RENEW"
        case .active, nil: "OTHER"
        }
    }
}
