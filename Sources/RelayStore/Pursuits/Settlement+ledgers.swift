import Foundation
import Postgres
import RelayCore

/// The ledgers of what is granted: read before the grant, since the store may have taken the purchase back, and watched from then on.
extension Settlement {
    private var leeway: Duration { listener?.leeway ?? Self.standardLeeway }

    /// Leeway without a listener, as ``RELAY_APPLE_RENEWAL_LEEWAY_SECONDS`` has it unless it is set.
    private static let standardLeeway = Duration.seconds(3_600)

    /// The ledgers of the subscriptions that something is granted on. They are locked behind the owners' rows, in the order of their keys, as
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

    /// A ledger that this version cannot read is an inner nil: it stops no grant. Its next update reports it.
    func ledgers(_ rows: PostgresRows) throws -> [SubscriptionName: SubscriptionLedger?] {
        var ledgers: [SubscriptionName: SubscriptionLedger?] = [:]
        for row in rows {
            ledgers.updateValue(try? StoredLedger.read(row, ownerNo: nil), forKey: try row.subscriptionName())
        }
        return ledgers
    }

    /// - Parameter row: from ``hold(_:)``.
    /// - Returns: nil where the ledger or the receipt's period cannot be read.
    func ledger(
        of write: PursuitWrite, _ row: PostgresRow, _ known: [SubscriptionName: SubscriptionLedger?]
    ) throws -> GrantedLedger? {
        guard let change = write.change, let ledger = known[write.claimed.name] ?? SubscriptionLedger() else {
            return nil
        }
        let period: LedgerPeriod?
        do { period = try LedgerPeriod(stored: row.get("period")) } catch is StoreError { return nil }
        return GrantedLedger(
            change, of: write.claimed, in: ledger, bundleID: try row.get("bundle_id"), period: period,
            now: try row.timestamp("now"), catalogue: catalogue, leeway: leeway)
    }

    /// - Parameters:
    ///   - grant: the only one of its subscription, whose row it made, and of which nothing was known.
    ///   - row: from ``hold(_:)``.
    func firstGrant(_ grant: Ownership.Grant, _ ledger: GrantedLedger?, _ row: PostgresRow) throws
        -> FirstGrant?
    {
        guard let listener, let ledger, try !row.get("has_contract", as: Bool.self) else { return nil }
        return FirstGrant(grant.change, ledger, listener: listener)
    }

    /// On what, and under which of its owners, something was granted, or would have been.
    struct Granted: Sendable {
        var subscription: SubscriptionName
        /// Nil where it opens nothing.
        var ownerNo: Int32?
        var bundleID: BundleID?
        var productID: ProductID?
        /// Nil where a ledger update has to follow.
        var first: FirstGrant?
        /// As ``GrantedLedger/contradictsStore``.
        var contradictsStore = false

        /// - Parameter acknowledged: stores that want an acknowledgement of a grant.
        func asksStore(_ acknowledged: Set<StorePlatform>) -> Bool {
            let store = StorePlatform(subscriptionKey: subscription.originalTransactionID)
            return ownerNo != nil && !subscription.standsAlone
                && (acknowledged.contains(store) || (contradictsStore && QuestionStore.stores.contains(store)))
        }
    }

    /// Every grant has a ledger, and every ledger of a grant is due at some time. A first grant's ledger is complete. Any other is due soon.
    /// Rows are locked in the order of their keys, as everywhere. The owners' rows are held already.
    ///
    /// - Parameter areKnown: their ledgers were read and locked. Of the others none was there. If another transaction has inserted one meanwhile,
    ///   the insert fails by the primary key, and the settlement runs again: that transaction may know of a refund.
    /// - Returns: a statement that returns the ledgers which need an update.
    func watch(_ grants: [(write: PursuitWrite, granted: Granted)], areKnown: Bool) -> SQL {
        let changes = grants.map(\.write.change)
        let first = grants.map(\.granted.first?.entry)
        let rows: SQLTable = [
            "at": .timestamptzArray(changes.map { $0?.rankedAt.postgres }),
            "until": .timestamptzArray(changes.map { $0?.grantedUntil?.postgres }),
            "offer_id": .textArray(grants.map(\.write.claimed.offerID)),
            "bundle_id": .textArray(grants.map(\.granted.bundleID)),
            "event_id": .uuidArray(grants.map { _ in UUID() }),
            "event": .textArray(first.map { $0?.shown?.status.name }),
            "said_at": .timestamptzArray(first.map { $0?.now.postgres }),
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
            ), watched AS (
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
                JOIN watched w ON \(.sameSubscription("w", "i"))
                WHERE w.has_state
            )
            SELECT w.publisher, w.environment, w.subscription_key FROM watched w WHERE NOT w.has_state
            """
    }

    /// Time for the listener's update of a ledger; after it the ledger is due.
    private static let updateDelay = Duration.seconds(10)
}
