import Foundation
import Postgres
import RelayCore

/// Who owns a subscription once a grant is in: the newest request that Cleeng granted.
struct Ownership: Sendable {
    enum Verdict: Sendable, Equatable {
        /// The grant stands.
        case stands
        /// The subscription has passed to somebody else since the read was sent, or so shortly before that it may still be on its
        /// way.
        case readTooOld
    }

    struct Judgement: Sendable {
        var verdicts: [Verdict]
        var moved: [Transfer] = []
        /// Whose purchases are others now.
        var changes: [CustomerChange] = []
    }

    struct Transfer: Sendable {
        var publisher: PublisherID
        var environment: StoreEnvironment
        var subscriptionKey: TransactionID
        var to: ValidationID
        var toCustomer: CustomerID
        var from: ValidationID
        var fromCustomer: CustomerID
    }

    let transaction: PostgresTransaction

    /// A grant of an older request than the owner's own changes no owner. Of several in one batch the newest counts.
    ///
    /// What it asks of the pursuits is what ``RelayStore/ours(_:)`` asks, which has locked them in the same transaction.
    private static let takeSQL = """
        INSERT INTO subscriptions AS s (
            bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
            product_id, accepted_on, id, accepted_at, owned_since, expires_at, sealed_by)
        SELECT DISTINCT ON (v.bucket, v.publisher, v.environment, v.subscription_key)
               v.bucket, v.publisher, v.environment, v.subscription_key, v.customer, v.email, v.application_username, v.app,
               v.offer_id, v.product_id, v.accepted_on, v.id, v.accepted_at, clock_timestamp(), i.expires_at,
               v.sealed_by
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::timestamptz[], $5::int4[])
             AS i(bucket, day, id, expires_at, fence)
        JOIN pursuits p ON p.bucket = i.bucket AND p.id = i.id AND p.fence = i.fence AND p.owner IS NOT NULL
             AND p.due_at > now()
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        ORDER BY v.bucket, v.publisher, v.environment, v.subscription_key, v.accepted_at DESC
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
            previous_customer = s.customer, previous_accepted_on = s.accepted_on, previous_id = s.id,
            previous_bucket = coalesce(s.validation_bucket, s.bucket), validation_bucket = NULL,
            previous_username = s.application_username,
            customer = excluded.customer, email = excluded.email, application_username = excluded.application_username,
            app = excluded.app, offer_id = excluded.offer_id, product_id = excluded.product_id,
            accepted_on = excluded.accepted_on, id = excluded.id, accepted_at = excluded.accepted_at,
            owned_since = CASE WHEN s.customer = excluded.customer THEN s.owned_since ELSE excluded.owned_since END,
            expires_at = excluded.expires_at, sealed_by = excluded.sealed_by
        WHERE s.accepted_at <= excluded.accepted_at
        RETURNING s.bucket, s.accepted_on - DATE 'epoch', s.id, s.publisher, s.environment, s.subscription_key,
                  ROW(s.sealed_by, s.customer), ROW(s.sealed_by, s.previous_customer),
                  s.previous_accepted_on - DATE 'epoch', s.previous_id, s.previous_bucket,
                  ROW(s.sealed_by, s.application_username), ROW(s.sealed_by, s.previous_username)
        """

    /// For the grants that did not make the owner: whose the subscription is, and until when what was read of others says
    /// nothing.
    ///
    /// The owner may have been granted on what was there before, by an earlier request or otherwise. For as long as an app
    /// waits for its grant, Cleeng may still be passing the subscription to the older request and then on to the owner's: who
    /// reads in between is entitled for that moment only. Indexes used: primary keys.
    private static let ownersSQL = """
        SELECT i.ordinal, s.customer = v.customer,
               greatest(s.owned_since, o.settled_at) + coalesce(o.deadline - o.accepted_at, interval '0')
        FROM unnest($1::int2[], $2::int4[], $3::uuid[]) WITH ORDINALITY AS i(bucket, day, id, ordinal)
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        JOIN subscriptions s ON s.bucket = v.bucket AND s.publisher = v.publisher AND s.environment = v.environment
             AND s.subscription_key = v.subscription_key
        LEFT JOIN validations o ON o.bucket = coalesce(s.validation_bucket, s.bucket) AND o.accepted_on = s.accepted_on AND o.id = s.id
        """

    /// Makes those of the grants the owners that are held and newest. To be sent right behind what locks the pursuits.
    static func take(_ grants: [PursuitWrite]) -> PostgresQuery {
        PostgresQuery(
            takeSQL,
            Settlement.keys(grants.map(\.claimed.id)) + [
                .timestamptzArray(grants.map { $0.change?.expiresAt?.postgres }),
                .int4Array(grants.map(\.claimed.fence)),
            ])
    }

    /// - Parameters:
    ///   - grants: those that are held.
    ///   - rows: the answer to ``take(_:)``.
    func judge(
        _ grants: [PursuitWrite], taken rows: PostgresRows
    ) async throws -> Judgement {
        var judgement = Judgement(verdicts: [Verdict](repeating: .stands, count: grants.count))
        var owners: Set<ValidationID> = []
        let traces = Dictionary(
            grants.map { ($0.claimed.id, $0.claimed.trace) }, uniquingKeysWith: { first, _ in first })
        for row in rows {
            let owner = try row.validationID(bucket: 0, day: 1, id: 2)
            owners.insert(owner)
            let customer = try row.open(6, as: CustomerID.self)
            judgement.changes += try Self.changes(row, trace: traces[owner] ?? nil)
            guard let previous = try row.open(7, as: CustomerID?.self), previous != customer else { continue }
            judgement.moved.append(
                Transfer(
                    publisher: try row.get(3), environment: try row.get(4), subscriptionKey: try row.get(5), to: owner,
                    toCustomer: customer, from: try row.validationID(bucket: 10, day: 8, id: 9), fromCustomer: previous)
            )
        }
        let others = grants.indices.filter { !owners.contains(grants[$0].claimed.id) }
        guard !others.isEmpty else { return judgement }
        let ids = others.map { grants[$0].claimed.id }
        for row in try await transaction.query(PostgresQuery(Self.ownersSQL, Settlement.keys(ids))) {
            let grant = others[try row.get(0, as: Int.self) - 1]
            let isOwn = try row.get(1, as: Bool.self)
            let unsettledUntil = try row.timestamp(2)
            if !isOwn, let observed = grants[grant].change?.observedAt, observed <= unsettledUntil {
                judgement.verdicts[grant] = .readTooOld
            }
        }
        return judgement
    }

    /// The new owner has it, and who had it by another name has it no longer.
    private static func changes(_ row: PostgresRow, trace: String?) throws -> [CustomerChange] {
        let subscription = SubscriptionName(
            publisher: try row.get(3), environment: try row.get(4), originalTransactionID: try row.get(5))
        func change(_ username: Username, _ reason: CustomerChange.Reason) -> CustomerChange {
            CustomerChange(
                customer: CustomerName(publisher: subscription.publisher, username: username), reason: reason,
                subscription: subscription, trace: trace)
        }
        let username = try row.open(11, as: Username.self)
        let now = change(username, .purchased)
        guard let previous = try row.open(12, as: Username?.self), previous != username else { return [now] }
        return [now, change(previous, .other)]
    }
}
