import Foundation
import Postgres
import RelayCore

/// Who owns a subscription once a grant is in. ``OwnershipClaim`` decides; this reads what it decides by, and writes what follows.
///
///     open   makes the owner's row of a subscription that nobody has; locks and reads that of one that somebody has
///     judge  one claim after the other, the newest first: of one batch it alone can take the subscription
///     write  moves owners on; a grant that stands alone gets a subscription of its own
///
/// `owner_no` counts the owners of a subscription, and a granted validation carries the number of its owner: by the foreign key between them
/// the database refuses a commit that would leave two customers granted.
struct Ownership: Sendable {
    enum Verdict: Sendable, Equatable {
        /// Granted on this subscription, under its owner's number.
        case granted(SubscriptionName, ownerNo: Int32)
        /// What was read may be a moment on the way: see ``OwnershipClaim/Verdict/readsAgain``.
        case readTooOld
        /// Cleeng is to be asked whether the owner is entitled still.
        case ownerInDoubt(RivalOwner)
    }

    struct Judgement: Sendable {
        /// In the order of the grants.
        var verdicts: [Verdict] = []
        var moved: [Transfer] = []
        /// Whose purchases are others now.
        var changes: [CustomerChange] = []
        fileprivate var takers: [Taker] = []
        fileprivate var alone: [Taker] = []
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

    fileprivate struct Taker: Sendable {
        var id: ValidationID
        var name: SubscriptionName
        var expiresAt: Timestamp?
        var ownerNo: Int32
    }

    /// A grant whose lease is held, with what else its claim needs.
    struct Grant: Sendable {
        var write: PursuitWrite
        var username: Username

        var name: SubscriptionName {
            let claimed = write.claimed
            return SubscriptionName(
                publisher: claimed.publisher, environment: claimed.environment,
                originalTransactionID: claimed.subscriptionKey)
        }
    }

    // MARK: Open

    /// What it asks of the pursuits is what ``RelayStore/ours(_:)`` asks, which has locked them in the same transaction. An owner is
    /// unsettled for as long as an app waits for its grant: Cleeng may still be passing the subscription to an older request and then on to
    /// the owner's, and who reads in between is entitled for that moment only. Indexes used: primary keys.
    private static let openSQL = """
        INSERT INTO subscriptions AS s (
            bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
            product_id, accepted_on, id, accepted_at, owned_since, expires_at, sealed_by)
        SELECT DISTINCT ON (v.bucket, v.publisher, v.environment, v.subscription_key)
               v.bucket, v.publisher, v.environment, v.subscription_key, v.customer, v.email, v.application_username, v.app,
               v.offer_id, v.product_id, v.accepted_on, v.id, v.accepted_at, clock_timestamp(), i.expires_at,
               v.sealed_by
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::timestamptz[], $5::int4[])
             AS i(bucket, day, id, expires_at, fence)
        CROSS JOIN LATERAL (
            SELECT p.fence, p.owner, p.due_at FROM pursuits p WHERE p.bucket = i.bucket AND p.id = i.id OFFSET 0) AS p
        CROSS JOIN LATERAL (
            SELECT * FROM validations v
            WHERE v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
            OFFSET 0) AS v
        WHERE p.fence = i.fence AND p.owner IS NOT NULL AND p.due_at > now()
        ORDER BY v.bucket, v.publisher, v.environment, v.subscription_key, v.accepted_at DESC
        -- Locks the row and changes nothing.
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET bucket = s.bucket
        RETURNING s.publisher, s.environment, s.subscription_key, s.owner_no, ROW(s.sealed_by, s.customer),
                  ROW(s.sealed_by, s.email), ROW(s.sealed_by, s.application_username), s.accepted_at,
                  coalesce(s.validation_bucket, s.bucket), s.accepted_on - DATE 'epoch', s.id,
                  s.owned_since, \(ofOwner("o.settled_at")), \(ofOwner("o.deadline - o.accepted_at + now()")), now()
        """

    /// Of the validation that made the owner; null for an owner that is made here.
    private static func ofOwner(_ column: String) -> String {
        """
        CASE WHEN s.id <> ALL ($3) THEN (
            SELECT \(column) FROM validations o
            WHERE o.bucket = coalesce(s.validation_bucket, s.bucket) AND o.accepted_on = s.accepted_on AND o.id = s.id) END
        """
    }

    /// To be sent right behind what locks the pursuits.
    static func open(_ grants: [PursuitWrite]) -> PostgresQuery {
        PostgresQuery(
            openSQL,
            Settlement.keys(grants.map(\.claimed.id)) + [
                .timestamptzArray(grants.map { $0.change?.expiresAt?.postgres }),
                .int4Array(grants.map(\.claimed.fence)),
            ])
    }

    // MARK: Judge

    /// A subscription as it was found, and as it is after each claim.
    fileprivate struct Found {
        struct Owner {
            var customer: CustomerID
            var email: EmailAddress
            var validation: ValidationID
            var acceptedAt: Timestamp
            var since: Timestamp
            var unsettledUntil: Timestamp
        }
        var owner: Owner?
        var username: Username
        var ownerNo: Int32
        /// The row was made by this transaction, of this validation.
        var isMadeBy: ValidationID?
    }

    /// - Parameters:
    ///   - grants: those whose leases are held.
    ///   - rows: the answer to ``open(_:)``.
    static func judge(_ grants: [Grant], opened rows: PostgresRows) throws -> Judgement {
        let ids = Set(grants.map(\.write.claimed.id))
        var found: [SubscriptionName: Found] = [:]
        for row in rows {
            let name = SubscriptionName(
                publisher: try row.get(0), environment: try row.get(1), originalTransactionID: try row.get(2))
            found[name] = try Found(row, of: ids)
        }
        var judgement = Judgement()
        var verdicts: [Int: Verdict] = [:]
        let order = grants.indices.sorted {
            let (left, right) = (grants[$0].write.claimed, grants[$1].write.claimed)
            return (left.pursuit.acceptedAt, left.id.high, left.id.low)
                > (right.pursuit.acceptedAt, right.id.high, right.id.low)
        }
        for index in order {
            guard var one = found[grants[index].name] else { throw StoreError.missingRow("a subscription") }
            verdicts[index] = judgement.judge(grants[index], &one)
            found[grants[index].name] = one
        }
        judgement.verdicts = try grants.indices.map { index in
            guard let verdict = verdicts[index] else { throw StoreError.missingRow("a verdict") }
            return verdict
        }
        return judgement
    }
}

extension Ownership.Found {
    fileprivate init(_ row: PostgresRow, of ids: Set<ValidationID>) throws {
        username = try row.open(6)
        ownerNo = try row.get(3)
        // One that was claimed by a username alone has no owner.
        guard let customer = try row.open(4, as: CustomerID?.self) else { return }
        let validation = try row.validationID(bucket: 8, day: 9, id: 10)
        let owned = try row.timestamp(11)
        let since = try max(owned, row.timestampIfSet(12) ?? owned)
        let now = try row.timestamp(14)
        let wait = try row.timestampIfSet(13).map { $0 - now } ?? .zero
        owner = Owner(
            customer: customer, email: try row.open(5), validation: validation, acceptedAt: try row.timestamp(7),
            since: since, unsettledUntil: since + wait)
        isMadeBy = ids.contains(validation) ? validation : nil
    }
}

extension Ownership.Judgement {
    /// - Parameter found: changed to what it is with this grant.
    fileprivate mutating func judge(_ grant: Ownership.Grant, _ found: inout Ownership.Found) -> Ownership.Verdict {
        let (claimed, name) = (grant.write.claimed, grant.name)
        guard let change = grant.write.change else { return .granted(name, ownerNo: found.ownerNo) }
        let rival = found.owner.flatMap { $0.customer == claimed.customer ? nil : $0 }
        let claim = OwnershipClaim(
            acceptedAt: claimed.pursuit.acceptedAt, observedAt: change.observedAt ?? change.at,
            entitledBefore: grant.write.pursuit.entitledBefore, isProven: change.isProven, rival: grant.write.rival)
        switch claim.judge(
            against: rival.map { .init(acceptedAt: $0.acceptedAt, since: $0.since, unsettledUntil: $0.unsettledUntil) })
        {
        case .readsAgain: return .readTooOld
        case .asksOfOwner:
            guard let rival else { return .readTooOld }
            return .ownerInDoubt(
                RivalOwner(
                    key: CustomerKey(publisher: name.publisher, customer: rival.customer), email: rival.email,
                    offerID: claimed.offerID))
        case .standsAlone:
            let own = name.alone(claimed.id)
            alone.append(
                Ownership.Taker(id: claimed.id, name: own, expiresAt: change.expiresAt, ownerNo: 1))
            return .granted(own, ownerNo: 1)
        case .takes:
            return take(grant, change, &found, from: rival)
        }
    }

    private mutating func take(
        _ grant: Ownership.Grant, _ change: Decision.Change, _ found: inout Ownership.Found,
        from rival: Ownership.Found.Owner?
    ) -> Ownership.Verdict {
        let (claimed, name) = (grant.write.claimed, grant.name)
        if found.isMadeBy == claimed.id {
            changes.append(customerChange(grant.username, .purchased, grant))
            return .granted(name, ownerNo: found.ownerNo)
        }
        // An older request of the owner's changes nothing about who owns it, nor by which purchase.
        if rival == nil, let owner = found.owner, owner.acceptedAt > claimed.pursuit.acceptedAt {
            return .granted(name, ownerNo: found.ownerNo)
        }
        if let rival {
            moved.append(
                Ownership.Transfer(
                    publisher: name.publisher, environment: name.environment,
                    subscriptionKey: name.originalTransactionID, to: claimed.id, toCustomer: claimed.customer,
                    from: rival.validation, fromCustomer: rival.customer))
            found.ownerNo += 1
        }
        changes.append(customerChange(grant.username, .purchased, grant))
        if found.username != grant.username { changes.append(customerChange(found.username, .other, grant)) }
        takers.append(
            Ownership.Taker(
                id: claimed.id, name: name, expiresAt: change.expiresAt, ownerNo: found.ownerNo))
        found.username = grant.username
        found.owner = Ownership.Found.Owner(
            customer: claimed.customer, email: claimed.email, validation: claimed.id,
            acceptedAt: max(claimed.pursuit.acceptedAt, found.owner?.acceptedAt ?? claimed.pursuit.acceptedAt),
            since: change.at, unsettledUntil: change.at + (claimed.pursuit.deadline - claimed.pursuit.acceptedAt))
        return .granted(name, ownerNo: found.ownerNo)
    }

    /// Who had it by another name has it no longer.
    private func customerChange(
        _ username: Username, _ reason: CustomerChange.Reason, _ grant: Ownership.Grant
    ) -> CustomerChange {
        CustomerChange(
            customer: CustomerName(publisher: grant.name.publisher, username: username), reason: reason,
            subscription: grant.name, trace: grant.write.claimed.trace)
    }

    // MARK: Write

    /// One of each subscription at most. Index used: the primary key.
    private static let takeSQL = """
        UPDATE subscriptions s
        SET customer = v.customer, email = v.email, application_username = v.application_username, app = v.app,
            offer_id = v.offer_id, product_id = v.product_id, accepted_on = v.accepted_on, id = v.id,
            accepted_at = greatest(s.accepted_at, v.accepted_at), validation_bucket = nullif(v.bucket, s.bucket),
            owned_since = CASE WHEN s.owner_no = i.owner_no AND s.id IS NOT NULL THEN s.owned_since ELSE clock_timestamp() END,
            expires_at = i.expires_at, owner_no = i.owner_no, sealed_by = v.sealed_by
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::timestamptz[], $5::int4[], $6::text[], $7::text[], $8::text[])
             AS i(bucket, day, id, expires_at, owner_no, publisher, environment, subscription_key)
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        WHERE s.bucket = i.bucket AND s.publisher = i.publisher AND s.environment = i.environment
          AND s.subscription_key = i.subscription_key
        """

    /// A subscription of its own for a customer who has the offer by something else than this one.
    private static let aloneSQL = """
        INSERT INTO subscriptions AS s (
            bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
            accepted_on, id, accepted_at, owned_since, expires_at, sealed_by)
        SELECT v.bucket, i.publisher, i.environment, i.subscription_key, v.customer, v.email, v.application_username, v.app,
               v.offer_id, v.accepted_on, v.id, v.accepted_at, clock_timestamp(), i.expires_at, v.sealed_by
        FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::timestamptz[], $5::int4[], $6::text[], $7::text[], $8::text[])
             AS i(bucket, day, id, expires_at, owner_no, publisher, environment, subscription_key)
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET expires_at = excluded.expires_at
        """

    var queries: [PostgresQuery] {
        func query(_ sql: String, _ takers: [Ownership.Taker]) -> PostgresQuery {
            PostgresQuery(
                sql,
                Settlement.keys(takers.map(\.id)) + [
                    .timestamptzArray(takers.map { $0.expiresAt?.postgres }), .int4Array(takers.map(\.ownerNo)),
                    .textArray(takers.map(\.name.publisher)), .textArray(takers.map(\.name.environment)),
                    .textArray(takers.map(\.name.originalTransactionID)),
                ])
        }
        return (takers.isEmpty ? [] : [query(Self.takeSQL, takers.sorted { $0.name.order < $1.name.order })])
            + (alone.isEmpty ? [] : [query(Self.aloneSQL, alone.sorted { $0.name.order < $1.name.order })])
    }
}
