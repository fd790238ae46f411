import Formats
import Foundation
import Postgres
import RelayCore

/// Walks all granted access. Adds missing owner numbers and ledgers, and makes unwatched subscriptions due.
///
/// The present version writes both with each grant. So the walk finds only faults, and grants that an earlier version
/// made before or during an upgrade. One copy at a time walks, with one transaction per page; if it stops, the next
/// copy continues from its place.
public struct GrantCheck: Sendable {
    /// Repairs of a walk, or of a part of it.
    public struct Found: Sendable, Equatable {
        /// Grants that had no owner's number.
        public var unnumbered = 0
        /// Those grants among them whose customer does not own the subscription. Each gets a standalone subscription.
        public var alone = 0
        /// Grants whose ledger was missing or never due, or whose subscription moved to an id that has no owner.
        public var unwatched = 0

        public init(unnumbered: Int = 0, alone: Int = 0, unwatched: Int = 0) {
            self.unnumbered = unnumbered
            self.alone = alone
            self.unwatched = unwatched
        }
    }

    /// Pause between two walks.
    private static let pause = Duration.seconds(6 * 3_600)
    private static let pageSize: Int32 = 1_000

    private let store: RelayStore

    public init(store: RelayStore) { self.store = store }

    /// Continues the walk for at most `budget`, if a walk is due and no other copy walks.
    public func run(budget: Duration) async throws -> Found {
        var found = Found()
        guard let duty = try await store.duties.take(.grantCheck) else { return found }
        let end = ContinuousClock.now + budget
        var place = duty.progress.flatMap(PointerPage.Place.init(text:)) ?? .start
        do {
            while ContinuousClock.now < end {
                let rows = try await store.database.query(Self.page(after: place))
                guard let last = rows.last else {
                    found.unwatched += try await makeDue(duty)
                    try await store.duties.release(duty, for: Self.pause)
                    return found
                }
                let unnumbered = try rows.filter { try $0.get("is_unnumbered") }.map { try $0.validationID() }
                let unwatched = try rows.filter { try $0.get("is_unwatched") }.map { try $0.validationID() }
                let left = try await left(
                    behind: rows.filter { try $0.get("has_moved") }.map { try $0.subscriptionName() })
                place = PointerPage.Place(
                    bucket: try last.get("bucket"), day: try last.get("day"), id: try last.get("id"))
                let changed = try await number(unnumbered, unwatched: unwatched, left: left, duty, place)
                found.unnumbered += changed.unnumbered
                found.alone += changed.alone
                found.unwatched += changed.unwatched
            }
            try await store.duties.release(duty)
            return found
        } catch {
            try? await store.duties.release(duty)
            throw error
        }
    }

    /// Selects a page of validations. Indexes used: the primary keys of each partition and of the ledgers.
    private static func page(after place: PointerPage.Place) -> SQL {
        """
        SELECT v.bucket, v.accepted_on - DATE 'epoch' AS day, v.id,
               v.status = \(ValidationStatus.granted) AND v.owner_no IS NULL AS is_unnumbered,
               v.status = \(ValidationStatus.granted) AND v.owner_no IS NOT NULL AND NOT EXISTS (
                   SELECT FROM ledgers l
                   WHERE \(.sameSubscription("l", "v"))) AS is_unwatched,
               v.status = \(ValidationStatus.granted) AND EXISTS (
                   SELECT FROM ledgers l
                   WHERE \(.sameSubscription("l", "v")) AND l.has_moved AND l.due_at IS NULL
                     AND l.parked_at IS NULL) AS has_moved,
               v.publisher, v.environment, v.subscription_key
        FROM validations v
        WHERE (v.bucket, v.accepted_on, v.id)
              > (\(.int2(place.bucket)), DATE 'epoch' + \(.int4(place.day)), \(.uuid(place.id)))
        ORDER BY v.bucket, v.accepted_on, v.id
        LIMIT \(.int4(pageSize))
        """
    }

    /// Those of these moved subscriptions whose present id has no owner. Indexes used: primary keys.
    private func left(behind moved: [SubscriptionName]) async throws -> [SubscriptionName] {
        guard !moved.isEmpty else { return [] }
        let present = try await SubscriptionHistory.read(moved) { try await store.database.query($0) }.map(\.current)
        let rows = try await store.database.query(
            """
            SELECT s.publisher, s.environment, s.subscription_key
            FROM \(.subscriptions(present), as: "i")
            CROSS JOIN LATERAL (SELECT * FROM subscriptions s WHERE \(.sameSubscription("s", "i")) OFFSET 0) AS s
            WHERE s.id IS NOT NULL
            """)
        let owned = Set(try rows.map { try $0.subscriptionName() })
        return zip(moved, present).filter { !owned.contains($1) }.map(\.0)
    }

    /// Adds owner numbers. Locks in the common order of all transactions: owners, validations, ledgers.
    private static func number(_ ids: [ValidationID]) -> SQL {
        """
        WITH held AS MATERIALIZED (
            SELECT s.bucket, s.publisher, s.environment, s.subscription_key, s.customer, s.owner_no, v.accepted_on, v.id
            FROM \(SQLTable.ids(ids), as: "i")
            JOIN validations v ON \(.sameID("v", "i"))
            JOIN subscriptions s ON \(.sameSubscription("s", "v"))
            ORDER BY s.bucket, s.publisher, s.environment, s.subscription_key
            FOR NO KEY UPDATE OF s
        ), numbered AS (
            UPDATE validations v
            SET owner_no = h.owner_no
            FROM held h
            WHERE v.bucket = h.bucket AND v.accepted_on = h.accepted_on AND v.id = h.id AND v.customer = h.customer
              AND v.status = \(ValidationStatus.granted) AND v.owner_no IS NULL
            RETURNING v.*
        ), added AS (
            \(addLedgers(of: "numbered"))
        )
        SELECT bucket, accepted_on - DATE 'epoch' AS day, id FROM numbered
        """
    }

    private static func names(_ ids: [ValidationID]) -> SQL {
        """
        SELECT v.bucket, v.accepted_on - DATE 'epoch' AS day, v.id, v.publisher, v.environment, v.subscription_key
        FROM \(SQLTable.ids(ids), as: "i")
        JOIN validations v ON \(.sameID("v", "i"))
        """
    }

    /// Gives each granted customer who is not the owner a standalone subscription.
    private static func setAlone(_ grants: [(id: ValidationID, name: SubscriptionName)]) -> SQL {
        let names: SQLTable = ["alone": .textArray(grants.map { $0.name.alone($0.id).originalTransactionID })]
        return """
            WITH held AS MATERIALIZED (
                SELECT v.*, i.alone
                FROM \(SQLTable.ids(grants.map(\.id)) + names, as: "i")
                JOIN validations v ON \(.sameID("v", "i"))
                WHERE v.status = \(ValidationStatus.granted) AND v.owner_no IS NULL
                FOR NO KEY UPDATE OF v
            ), owned AS (
                INSERT INTO subscriptions (
                    bucket, publisher, environment, subscription_key, accepted_at, owned_since, expires_at,
                    \(OwnerStatements.columns))
                SELECT bucket, publisher, environment, alone, accepted_at, settled_at, expires_at, \(OwnerStatements.columns)
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
            \(addLedgers(of: "numbered"))
            """
    }

    /// Adds ledgers. Keeps existing statements and due times. A grant without an end gets the present time as its end,
    /// so that Cleeng is asked now.
    private static func addLedgers(of rows: SQL) -> SQL {
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

    private static func addLedgers(_ ids: [ValidationID]) -> SQL {
        """
        WITH held AS MATERIALIZED (
            SELECT v.*
            FROM \(SQLTable.ids(ids), as: "i")
            JOIN validations v ON \(.sameID("v", "i"))
            WHERE v.status = \(ValidationStatus.granted)
            FOR NO KEY UPDATE OF v
        )
        \(addLedgers(of: "held"))
        """
    }

    private func number(
        _ ids: [ValidationID], unwatched: [ValidationID], left: [SubscriptionName], _ duty: Duty,
        _ place: PointerPage.Place
    ) async throws -> Found {
        try await store.database.retryingConflicts {
            try await store.database.withTransaction { transaction in
                try await store.duties.keep(duty, progress: place.text, in: transaction)
                var found = Found()
                if !unwatched.isEmpty {
                    found.unwatched = try await transaction.query(Self.addLedgers(unwatched)).affectedRows
                }
                if !left.isEmpty {
                    found.unwatched += try await transaction.query(LedgerTransaction.lookAgain(at: left)).affectedRows
                }
                guard !ids.isEmpty else { return found }
                let numbered = Set(try await transaction.query(Self.number(ids)).map { try $0.validationID() })
                let rest = ids.filter { !numbered.contains($0) }
                found.unnumbered = numbered.count
                guard !rest.isEmpty else { return found }
                let names = try await transaction.query(Self.names(rest)).map { row in
                    (id: try row.validationID(), name: try row.subscriptionName())
                }
                found.alone = try await transaction.query(Self.setAlone(names)).affectedRows
                found.unnumbered += found.alone
                return found
            }
        }
    }

    /// Makes ledgers due that give access but have no due time. Index used: `ledgers_never_due`, usually empty. Cleeng
    /// is asked about access without an end: an older version treated every grant without a date as unlimited.
    private func makeDue(_ duty: Duty) async throws -> Int {
        try await store.database.withTransaction { transaction in
            try await store.duties.keep(duty, progress: PointerPage.Place.start.text, in: transaction)
            return try await transaction.query(
                """
                UPDATE ledgers l SET due_at = now(), granted_until = coalesce(l.granted_until, now())
                WHERE l.due_at IS NULL AND l.parked_at IS NULL AND \(SubscriptionState.runs) AND l.granted_at IS NOT NULL
                  AND NOT l.has_moved
                """
            ).affectedRows
        }
    }
}

extension PointerPage.Place {
    /// Text of a place: `BUCKET DAY ID`.
    fileprivate var text: String { "\(bucket) \(day) \(id.uuidString)" }

    fileprivate init?(text: String) {
        let parts = text.parts(at: " ")
        guard parts.count == 3, let bucket = Int16(parts[0]), let day = Int32(parts[1]),
            let id = UUID(uuidString: String(parts[2]))
        else { return nil }
        self.init(bucket: bucket, day: day, id: id)
    }
}
