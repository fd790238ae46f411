import Foundation
import Postgres
import RelayCore

/// The ledgers of granted subscriptions. They are read before the grant, since the store may have revoked the purchase,
/// and evaluated regularly after it.
extension Settlement {
    private var leeway: Duration { listener?.leeway ?? Self.standardLeeway }

    /// Leeway without a listener; the default of ``RELAY_APPLE_RENEWAL_LEEWAY_SECONDS``.
    private static let standardLeeway = Duration.seconds(3_600)

    /// The ledgers of the subscriptions with a grant. They are locked after the owners' rows, in key order, as
    /// everywhere. Index used: the primary key.
    func known(_ grants: [PursuitWrite]) -> SQL {
        let names = Set(grants.map(\.claimed.name)).sorted { $0.order < $1.order }
        return """
            SELECT l.publisher, l.environment, l.subscription_key, \(StoredLedger.columns)
            FROM (SELECT * FROM \(SQLTable.subscriptions(names), as: "i", ordinal: "ordinal") ORDER BY i.ordinal) AS i
            CROSS JOIN LATERAL (
                SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "i")) OFFSET 0 FOR NO KEY UPDATE) AS l
            """
    }

    /// A ledger that exists already.
    enum FoundLedger {
        case readable(SubscriptionLedger)
        /// This version cannot read it. It does not prevent the grant, and its next update reports it.
        case unreadable
    }

    /// - Parameter rows: the answer to ``known(_:)``.
    func ledgers(_ rows: PostgresRows) throws -> [SubscriptionName: FoundLedger] {
        var ledgers: [SubscriptionName: FoundLedger] = [:]
        for row in rows {
            let ledger = try? StoredLedger.read(row, ownerNo: nil)
            ledgers[try row.subscriptionName()] = ledger.map(FoundLedger.readable) ?? .unreadable
        }
        return ledgers
    }

    /// - Parameters:
    ///   - row: row from ``hold(_:)``.
    ///   - namesakes: ledgers of Apple's own names for the id, if only an app gave it to the purchase.
    /// - Returns: nil if the ledger or the receipt's periods cannot be read.
    func ledger(
        of write: PursuitWrite, _ row: PostgresRow, _ known: [SubscriptionName: FoundLedger],
        namesakes: [SubscriptionLedger]
    ) throws -> GrantedLedger? {
        guard let change = write.change else { return nil }
        var ledger: SubscriptionLedger
        switch known[write.claimed.name] {
        case .readable(let found): ledger = found
        case .unreadable: return nil
        case nil: ledger = SubscriptionLedger()
        }
        let periods: [LedgerPeriod]
        do { periods = try [LedgerPeriod](stored: row.get("period")) } catch is StoreError { return nil }
        let claimed = write.claimed
        let now = try row.timestamp("now")
        if claimed.name.isOnlyNamed { ledger.end(by: namesakes, at: now, leeway: leeway) }
        return GrantedLedger(
            change, to: .init(customer: claimed.customer, email: claimed.email, offerID: claimed.offerID),
            on: claimed.name, in: ledger, bundleID: try row.get("bundle_id"), periods: periods,
            now: now, leeway: leeway, offers: catalogue.offers)
    }

    /// - Parameters:
    ///   - ledger: of the only grant of its subscription. The grant inserted the subscription's row, and nothing else is
    ///     known about it.
    ///   - row: row from ``hold(_:)``.
    func firstGrant(_ ledger: GrantedLedger?, _ row: PostgresRow) throws -> FirstGrant? {
        guard let listener, let ledger, try !row.get("has_contract", as: Bool.self) else { return nil }
        return FirstGrant(ledger, asks: listener.asks)
    }

    /// The subscription and the owner's number of a grant, including one that a revocation prevented.
    struct Granted: Sendable {
        var subscription: SubscriptionName
        /// Nil if the grant gives no access.
        var ownerNo: Int32?
        var bundleID: BundleID?
        var productID: ProductID?
        /// Nil if the listener must update the ledger afterwards.
        var first: FirstGrant?
        /// See ``GrantedLedger/contradictsStore``.
        var contradictsStore = false

        /// - Parameter acknowledged: stores that require an acknowledgement of each grant.
        func asksStore(_ acknowledged: Set<StorePlatform>) -> Bool {
            let store = subscription.platform
            return ownerNo != nil && !subscription.standsAlone
                && (acknowledged.contains(store) || (contradictsStore && StorePlatform.asked.contains(store)))
        }
    }

    /// Makes sure that each grant has a ledger, and that the ledger has a due time. A first grant's ledger is complete;
    /// any other is due soon. Rows are locked in key order, as everywhere. The owners' rows are already locked.
    ///
    /// - Parameter areKnown: whether the ledgers were found and locked. Otherwise they did not exist. If another
    ///   transaction has inserted one in the meantime, the insert violates the primary key, and the settlement runs
    ///   again: that transaction may know of a refund.
    /// - Returns: a statement that returns the ledgers that need an update.
    func writeLedgers(of grants: [(write: PursuitWrite, granted: Granted)], areKnown: Bool) -> SQL {
        let changes = grants.map(\.write.change)
        let first = grants.map(\.granted.first?.updated)
        let rows: SQLTable = [
            "at": .timestamptzArray(changes.map { $0?.rankedAt.postgres }),
            "until": .timestamptzArray(changes.map { $0?.grantedUntil?.postgres }),
            "offer_id": .textArray(grants.map(\.write.claimed.offerID)),
            "bundle_id": .textArray(grants.map(\.granted.bundleID)),
            "event_id": .uuidArray(grants.map { _ in UUID() }),
            "event": .textArray(first.map { $0?.shown?.status.name }),
            "said_at": .timestamptzArray(first.map { $0?.found.now.postgres }),
        ]
        let table = SQLTable.subscriptions(grants.map(\.granted.subscription)) + LedgerUpdate.columns(first) + rows
        let due: SQL = "now() + \(listener == nil ? .zero : Self.updateDelay)"
        let ifKnown: SQL = """
            ON CONFLICT (bucket, publisher, environment, subscription_key) DO UPDATE SET
                granted_until = CASE WHEN l.granted_at > excluded.granted_at THEN l.granted_until ELSE excluded.granted_until END,
                granted_offer = CASE WHEN l.granted_at > excluded.granted_at THEN l.granted_offer ELSE excluded.granted_offer END,
                granted_at = greatest(l.granted_at, excluded.granted_at),
                due_at = CASE WHEN l.parked_at IS NULL THEN least(l.due_at, \(due)) END
            """
        return """
            WITH input AS MATERIALIZED (
                SELECT DISTINCT ON (i.bucket, i.publisher, i.environment, i.subscription_key) i.*
                FROM \(table, as: "i")
                ORDER BY i.bucket, i.publisher, i.environment, i.subscription_key, i.at DESC
            ), written AS (
                INSERT INTO ledgers AS l (
                    bucket, publisher, environment, subscription_key, bundle_id, heard_at, granted_at, granted_until,
                    granted_offer, due_at, state, status, will_renew, expires_at, product_id, auto_renew_product_id, reason,
                    transaction_id)
                SELECT i.bucket, i.publisher, i.environment, i.subscription_key, i.bundle_id, now(), i.at, i.until,
                       i.offer_id, coalesce(i.due_at, \(due)), i.state, i.status, i.will_renew, i.expires_at, i.product_id,
                       i.auto_renew_product_id, i.reason, i.transaction_id
                FROM input i
                ORDER BY i.bucket, i.publisher, i.environment, i.subscription_key
                \(areKnown ? ifKnown : "")
                -- A row that is made here has no `xmax`.
                RETURNING l.bucket, l.publisher, l.environment, l.subscription_key, l.xmax = 0 AND l.state IS NOT NULL AS has_state
            ), noted AS (
                INSERT INTO subscription_events (
                    bucket, accepted_on, id, recorded_at, said_at, expires_at, status, publisher, environment,
                    subscription_key, event)
                SELECT i.bucket, (now() AT TIME ZONE 'UTC')::date, i.event_id, clock_timestamp(), i.said_at, i.expires_at,
                       i.status, i.publisher, i.environment, i.subscription_key, i.event
                FROM input i
                JOIN written w ON \(.sameSubscription("w", "i"))
                WHERE w.has_state
            )
            SELECT w.publisher, w.environment, w.subscription_key FROM written w WHERE NOT w.has_state
            """
    }

    /// Time for the listener to update a ledger. Afterwards the ledger is due.
    private static let updateDelay = Duration.seconds(10)
}
