package import Postgres
public import RelayCore

/// One copy's turn to ask for voided purchases of an app.
public struct SweepTurn: Sendable {
    public let publisher: PublisherID
    public let store: StorePlatform
    public let app: BundleID
    /// Time up to which all voided purchases are known; nil before the first sweep.
    public let completeUntil: Timestamp?
    /// End of this claim's lease.
    let leaseEnd: Timestamp
}

extension QuestionStore {
    /// Another copy has taken the turn.
    struct TurnLost: Error {}

    private static let sweepLease = Duration.seconds(30)

    /// Registers the apps of Google purchases for sweeps. Written last in its transaction, so that two writers of a new
    /// app do not deadlock.
    ///
    /// - Parameter purchases: purchases that were granted or confirmed by Google. A forged notification may name any
    ///   app.
    package static func sweep(_ purchases: [(name: SubscriptionName, app: BundleID?)]) -> [SQL] {
        let purchases = purchases.filter { name, app in
            app != nil && name.platform == .google && !name.standsAlone
        }
        guard !purchases.isEmpty else { return [] }
        let apps: SQLTable = [
            "publisher": .textArray(purchases.map(\.name.publisher)), "app": .textArray(purchases.map(\.app)),
        ]
        return [
            """
            INSERT INTO store_sweeps (publisher, store, app)
            SELECT DISTINCT i.publisher, \(.text(StorePlatform.google.rawValue)), i.app
            FROM \(apps, as: "i")
            ORDER BY i.publisher, i.app
            ON CONFLICT (publisher, store, app) DO NOTHING
            """
        ]
    }

    /// Takes the turn of an app that is due. Nil if there is none.
    ///
    /// - Parameter own: publishers whose own accounts this copy has.
    public func takeSweep(own: [PublisherID] = []) async throws -> SweepTurn? {
        try await database.query(
            """
            WITH due AS MATERIALIZED (
                SELECT s.publisher, s.store, s.app
                FROM store_sweeps s
                WHERE s.due_at <= now() AND \(PublisherScope.hasAccount(own, "s.publisher"))
                ORDER BY s.due_at
                LIMIT 1
                FOR UPDATE SKIP LOCKED
            )
            UPDATE store_sweeps s
            SET due_at = clock_timestamp() + \(Self.sweepLease), asked_since = coalesce(s.asked_since, now())
            FROM due
            WHERE s.publisher = due.publisher AND s.store = due.store AND s.app = due.app
            RETURNING s.publisher, s.store, s.app, s.swept_until, s.due_at
            """
        ).first.flatMap { row in
            guard let store = StorePlatform(rawValue: try row.get("store")) else { return nil }
            return SweepTurn(
                publisher: try row.get("publisher"), store: store, app: try row.get("app"),
                completeUntil: try row.timestampIfSet("swept_until"), leaseEnd: try row.timestamp("due_at"))
        }
    }

    /// Renews the lease. Call this at least every half minute.
    ///
    /// - Throws: if another copy has taken the turn.
    public func keep(_ turn: SweepTurn) async throws -> SweepTurn {
        let kept = try await database.query(
            """
            UPDATE store_sweeps s
            SET due_at = clock_timestamp() + \(Self.sweepLease)
            WHERE \(isHeld(turn))
            RETURNING s.due_at
            """)
        guard let row = kept.first else { throw TurnLost() }
        return SweepTurn(
            publisher: turn.publisher, store: turn.store, app: turn.app, completeUntil: turn.completeUntil,
            leaseEnd: try row.timestamp("due_at"))
    }

    /// - Parameters:
    ///   - completeUntil: nil: unchanged.
    ///   - pause: time until the next turn, in any copy.
    ///   - canAsk: whether there is an account to ask with. Without one, the age of an app that was never swept is not
    ///     counted.
    public func end(
        _ turn: SweepTurn, completeUntil: Timestamp?, trouble: String?, pause: Duration, canAsk: Bool = true
    ) async throws {
        _ = try await database.query(
            """
            UPDATE store_sweeps s
            SET due_at = now() + \(pause), swept_until = coalesce(\(.timestamptz(completeUntil?.postgres)), s.swept_until),
                swept_at = CASE WHEN \(.timestamptz(completeUntil?.postgres)) IS NULL THEN s.swept_at ELSE now() END,
                asked_since = CASE WHEN \(.bool(canAsk)) THEN s.asked_since END,
                trouble = \(.text(trouble?.bounded(200)))
            WHERE \(isHeld(turn))
            """)
    }

    private func isHeld(_ turn: SweepTurn) -> SQL {
        """
        s.publisher = \(.text(turn.publisher)) AND s.store = \(.text(turn.store.rawValue)) AND s.app = \(.text(turn.app))
        AND s.due_at = \(.timestamptz(turn.leaseEnd.postgres))
        """
    }

    /// Purchases among these that still give access, according to the publisher's ledgers. Index used: the primary key.
    public func running(_ keys: [TransactionID], of publisher: PublisherID) async throws -> Set<TransactionID> {
        let rows = try await database.query(
            """
            SELECT l.subscription_key
            FROM \(.purchases(keys, of: publisher), as: "i")
            CROSS JOIN LATERAL (
                SELECT l.subscription_key FROM ledgers l WHERE \(.sameSubscription("l", "i")) AND \(SubscriptionState.runs)
                OFFSET 0) AS l
            """)
        return Set(try rows.map { try $0.get("subscription_key") })
    }
}
