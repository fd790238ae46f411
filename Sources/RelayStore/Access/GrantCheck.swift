import Foundation
import Postgres
import RelayCore

/// A walk over everything granted: it gives an owner's number and a ledger to what has none, and makes due what nobody would look at again.
///
/// What this version grants has both from the start. What it finds are grants of the version before, during and after an upgrade, and faults.
/// One copy at a time walks, a page to a transaction; a copy that ends leaves the place to the next.
public struct GrantCheck: Sendable {
    /// What a walk, or a part of it, has put right.
    public struct Found: Sendable, Equatable {
        /// Grants that had no owner's number.
        public var unnumbered = 0
        /// Of those, grants to somebody who does not own the subscription: they stand alone from now on.
        public var alone = 0
        /// Grants whose ledger was missing or never due.
        public var unwatched = 0

        public init(unnumbered: Int = 0, alone: Int = 0, unwatched: Int = 0) {
            self.unnumbered = unnumbered
            self.alone = alone
            self.unwatched = unwatched
        }
    }

    /// Between two walks.
    private static let pause = Duration.seconds(6 * 3_600)
    private static let page: Int32 = 1_000

    private let store: RelayStore

    public init(store: RelayStore) { self.store = store }

    /// Goes on with the walk for as long as `budget`, where no other copy does, and it is time for one.
    public func run(budget: Duration) async throws -> Found {
        var found = Found()
        guard let duty = try await store.take(.grantCheck) else { return found }
        let end = ContinuousClock.now + budget
        var place = duty.progress.flatMap(PointerPage.Place.init(text:)) ?? .start
        do {
            while ContinuousClock.now < end {
                let rows = try await store.pool.query(
                    PostgresQuery(
                        Self.pageSQL, [.int2(place.bucket), .int4(place.day), .uuid(place.id), .int4(Self.page)]))
                guard let last = rows.last else {
                    found.unwatched += try await watch(duty)
                    try await store.leave(duty, for: Self.pause)
                    return found
                }
                func ids(_ column: Int) throws -> [ValidationID] {
                    try rows.filter { try $0.get(column, as: Bool.self) }
                        .map { try $0.validationID(bucket: 0, day: 1, id: 2) }
                }
                let (unnumbered, unwatched) = (try ids(3), try ids(4))
                place = PointerPage.Place(bucket: try last.get(0), day: try last.get(1), id: try last.get(2))
                let changed = try await number(unnumbered, unwatched: unwatched, duty, place)
                found.unnumbered += changed.unnumbered
                found.alone += changed.alone
                found.unwatched += changed.unwatched
            }
            try await store.leave(duty)
            return found
        } catch {
            try? await store.leave(duty)
            throw error
        }
    }

    /// Indexes used: the primary keys, of each partition and of the ledgers.
    private static let pageSQL = """
        SELECT v.bucket, v.accepted_on - DATE 'epoch', v.id, v.status = 1 AND v.owner_no IS NULL,
               v.status = 1 AND v.owner_no IS NOT NULL AND NOT EXISTS (
                   SELECT FROM ledgers l
                   WHERE l.bucket = v.bucket AND l.publisher = v.publisher AND l.environment = v.environment
                     AND l.subscription_key = v.subscription_key)
        FROM validations v
        WHERE (v.bucket, v.accepted_on, v.id) > ($1, DATE 'epoch' + $2::int4, $3)
        ORDER BY v.bucket, v.accepted_on, v.id
        LIMIT $4
        """

    /// In the order in which everybody locks: owners, validations, ledgers.
    private static let numberSQL = """
        WITH held AS MATERIALIZED (
            SELECT s.bucket, s.publisher, s.environment, s.subscription_key, s.customer, s.owner_no, v.accepted_on, v.id
            FROM unnest($1::int2[], $2::int4[], $3::uuid[]) AS i(bucket, day, id)
            JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
            JOIN subscriptions s ON s.bucket = v.bucket AND s.publisher = v.publisher AND s.environment = v.environment
                 AND s.subscription_key = v.subscription_key
            ORDER BY s.bucket, s.publisher, s.environment, s.subscription_key
            FOR NO KEY UPDATE OF s
        ), numbered AS (
            UPDATE validations v
            SET owner_no = h.owner_no
            FROM held h
            WHERE v.bucket = h.bucket AND v.accepted_on = h.accepted_on AND v.id = h.id AND v.customer = h.customer
              AND v.status = 1 AND v.owner_no IS NULL
            RETURNING v.*
        ), watched AS (
            \(watch(of: "numbered"))
        )
        SELECT bucket, accepted_on - DATE 'epoch', id FROM numbered
        """

    /// To whom it is granted without being the owner: a subscription of its own for each.
    private static let aloneSQL = """
        WITH held AS MATERIALIZED (
            SELECT v.*, i.alone
            FROM unnest($1::int2[], $2::int4[], $3::uuid[], $4::text[]) AS i(bucket, day, id, alone)
            JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
            WHERE v.status = 1 AND v.owner_no IS NULL
            FOR NO KEY UPDATE OF v
        ), owned AS (
            INSERT INTO subscriptions (
                bucket, publisher, environment, subscription_key, customer, email, application_username, app, offer_id,
                accepted_on, id, accepted_at, owned_since, expires_at, sealed_by)
            SELECT bucket, publisher, environment, alone, customer, email, application_username, app, offer_id, accepted_on,
                   id, accepted_at, settled_at, expires_at, sealed_by
            FROM held
            RETURNING id
        ), numbered AS (
            UPDATE validations v
            SET subscription_key = h.alone, owner_no = 1, period = NULL
            FROM held h
            JOIN owned ON owned.id = h.id
            WHERE v.bucket = h.bucket AND v.accepted_on = h.accepted_on AND v.id = h.id
            RETURNING v.*
        )
        \(watch(of: "numbered"))
        """

    /// What a ledger says already stays; one that is due stays due then. A grant without an end may be one of which nobody knows the end:
    /// Cleeng is asked now.
    private static func watch(of rows: String) -> String {
        """
        INSERT INTO ledgers AS l (
            bucket, publisher, environment, subscription_key, bundle_id, heard_at, granted_at, granted_until, granted_offer, due_at)
        SELECT DISTINCT ON (n.bucket, n.publisher, n.environment, n.subscription_key)
               n.bucket, n.publisher, n.environment, n.subscription_key, n.bundle_id, now(), n.settled_at,
               coalesce(n.expires_at, now()), n.offer_id, now()
        FROM \(rows) n
        ORDER BY n.bucket, n.publisher, n.environment, n.subscription_key, n.accepted_at DESC
        ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
            granted_at = coalesce(l.granted_at, excluded.granted_at),
            granted_until = CASE WHEN l.granted_offer IS NULL THEN excluded.granted_until ELSE l.granted_until END,
            granted_offer = coalesce(l.granted_offer, excluded.granted_offer),
            due_at = coalesce(l.due_at, CASE WHEN l.parked_at IS NULL THEN excluded.due_at END)
        """
    }

    private static let watchSQL = """
        WITH held AS MATERIALIZED (
            SELECT v.*
            FROM unnest($1::int2[], $2::int4[], $3::uuid[]) AS i(bucket, day, id)
            JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
            WHERE v.status = 1
            FOR NO KEY UPDATE OF v
        )
        \(watch(of: "held"))
        """

    private func number(
        _ ids: [ValidationID], unwatched: [ValidationID], _ duty: Duty, _ place: PointerPage.Place
    ) async throws -> Found {
        try await store.retryingDeadlock {
            try await store.pool.withTransaction { transaction in
                try await store.keep(duty, progress: place.text, in: transaction)
                var found = Found()
                if !unwatched.isEmpty {
                    found.unwatched = try await transaction.query(
                        PostgresQuery(Self.watchSQL, Settlement.keys(unwatched))
                    ).affectedRows
                }
                guard !ids.isEmpty else { return found }
                let rows = try await transaction.query(PostgresQuery(Self.numberSQL, Settlement.keys(ids)))
                let numbered = Set(try rows.map { try $0.validationID(bucket: 0, day: 1, id: 2) })
                let rest = ids.filter { !numbered.contains($0) }
                found.unnumbered = numbered.count
                guard !rest.isEmpty else { return found }
                let names = try await transaction.query(PostgresQuery(Self.namesSQL, Settlement.keys(rest))).map {
                    row in
                    (
                        id: try row.validationID(bucket: 0, day: 1, id: 2),
                        name: SubscriptionName(
                            publisher: try row.get(3), environment: try row.get(4),
                            originalTransactionID: try row.get(5))
                    )
                }
                found.alone = try await transaction.query(
                    PostgresQuery(
                        Self.aloneSQL,
                        Settlement.keys(names.map(\.id)) + [
                            .textArray(names.map { $0.name.alone($0.id).originalTransactionID })
                        ])
                ).affectedRows
                found.unnumbered += found.alone
                return found
            }
        }
    }

    private static let namesSQL = """
        SELECT v.bucket, v.accepted_on - DATE 'epoch', v.id, v.publisher, v.environment, v.subscription_key
        FROM unnest($1::int2[], $2::int4[], $3::uuid[]) AS i(bucket, day, id)
        JOIN validations v ON v.bucket = i.bucket AND v.accepted_on = DATE 'epoch' + i.day AND v.id = i.id
        """

    /// Granted access that runs and at which nobody would look. Index used: `ledgers_never_due`, which is empty as a rule. Of what has no
    /// end Cleeng is asked, since an older version took any grant without a date for one that has none.
    private static let unwatchedSQL = """
        UPDATE ledgers l SET due_at = now(), granted_until = coalesce(l.granted_until, now())
        WHERE l.due_at IS NULL AND l.parked_at IS NULL AND l.status IN (1, 2) AND l.granted_at IS NOT NULL
          AND NOT l.has_moved
        """

    private func watch(_ duty: Duty) async throws -> Int {
        try await store.pool.withTransaction { transaction in
            try await store.keep(duty, progress: PointerPage.Place.start.text, in: transaction)
            return try await transaction.query(PostgresQuery(Self.unwatchedSQL)).affectedRows
        }
    }
}

extension PointerPage.Place {
    /// `BUCKET DAY ID`.
    fileprivate var text: String { "\(bucket) \(day) \(id.uuidString)" }

    fileprivate init?(text: String) {
        let parts = text.parts(at: " ")
        guard parts.count == 3, let bucket = Int16(parts[0]), let day = Int32(parts[1]),
            let id = UUID(uuidString: String(parts[2]))
        else { return nil }
        self.init(bucket: bucket, day: day, id: id)
    }
}
