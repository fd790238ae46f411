import Foundation
import Postgres
public import RelayCore

/// Other owners of a subscription, for purchases that may not take it from them.
extension SubscriptionStore {
    public struct RunningOwner: Sendable, Equatable {
        public var customer: CustomerID
        public var username: Username
    }

    /// The owner whose access on it runs; nil if there is none. An owner's validation may be gone, by retention, or
    /// ended, because the product changed; then the ledger decides. Indexes used: primary keys.
    public func runningOwner(of name: SubscriptionName) async throws -> RunningOwner? {
        let row = try await database.query(
            """
            SELECT ROW(s.sealed_by, s.customer) AS customer, ROW(s.sealed_by, s.application_username) AS username
            FROM subscriptions s
            CROSS JOIN LATERAL (
                SELECT coalesce(
                    (SELECT v.status FROM validations v
                     WHERE v.bucket = coalesce(s.validation_bucket, s.bucket) AND v.accepted_on = s.accepted_on AND v.id = s.id),
                    \(ValidationStatus.revoked)) AS status
            ) AS v
            WHERE \(name.isKey(of: "s")) AND s.customer IS NOT NULL
              AND (v.status = \(ValidationStatus.granted)
                   OR v.status = \(ValidationStatus.revoked) AND EXISTS (
                       SELECT FROM ledgers l
                       WHERE \(.sameSubscription("l", "s")) AND \(SubscriptionState.runs) AND NOT l.has_moved))
            """
        ).first
        guard let row else { return nil }
        return RunningOwner(customer: try row.open("customer"), username: try row.open("username"))
    }

    public enum Precedence: Sendable, Equatable {
        case owner
        /// Another customer whose purchase of it Cleeng has accepted without a result yet, while the app still waits.
        case waiting
    }

    /// The customer with precedence over a purchase. Index used in addition: `pursuits_subscription`.
    public func precedence(over claimed: ClaimedPursuit) async throws -> Precedence? {
        let name = claimed.name
        // Query waiters before the owner. A grant that commits between the two queries removes the waiter and sets the
        // owner.
        let waiting = try await database.query(
            """
            SELECT ROW(p.sealed_by, p.customer) AS customer
            FROM pursuits p
            WHERE \(name.isKey(of: "p")) AND p.phase IN \(Pursuit.Phase.taken)
              AND p.status = \(ValidationStatus.pending) AND p.deadline > now()
            """)
        if try waiting.contains(where: { try $0.open("customer", as: CustomerID.self) != claimed.customer }) {
            return .waiting
        }
        guard let owner = try await runningOwner(of: name), owner.customer != claimed.customer else { return nil }
        return .owner
    }

    /// Whether another customer has the subscription, or started the synchronization that Cleeng names. Indexes used:
    /// `pursuits_subscription`, primary keys.
    public func isHeldByAnother(_ claimed: ClaimedPursuit, synchronization: String?) async throws -> Bool {
        // Queries in this order for the reason in `precedence(over:)`.
        if let synchronization {
            let begun = try await database.query(
                """
                SELECT ROW(p.sealed_by, p.customer) AS customer
                FROM pursuits p
                WHERE \(claimed.name.isKey(of: "p")) AND p.synchronization = \(.text(synchronization))
                  AND NOT p.found_synchronization
                """)
            let customers = try begun.map { try $0.open("customer", as: CustomerID.self) }
            if !customers.isEmpty { return !customers.contains(claimed.customer) }
        }
        return try await runningOwner(of: claimed.name).map { $0.customer != claimed.customer } ?? false
    }

    /// Whether an id belongs to another customer's purchase, or to one that its store has stated and that has no owner yet.
    /// Indexes used: primary keys, `pursuits_subscription`.
    public func isOfAnother(_ name: SubscriptionName, than customer: CustomerID) async throws -> Bool {
        let rows = try await database.query(
            """
            SELECT ROW(o.sealed_by, o.customer) AS customer
            FROM (
                SELECT s.sealed_by, s.customer FROM subscriptions s
                WHERE \(name.isKey(of: "s")) AND s.customer IS NOT NULL
                UNION ALL
                SELECT p.sealed_by, p.customer FROM pursuits p WHERE \(name.isKey(of: "p"))
            ) AS o
            """)
        let customers = try rows.map { try $0.open("customer", as: CustomerID.self) }
        guard customers.isEmpty else { return customers.contains { $0 != customer } }
        let stated = try await database.query(
            "SELECT FROM ledgers l WHERE \(name.isKey(of: "l")) AND l.product_id IS NOT NULL")
        return !stated.isEmpty
    }

    /// Adds a line to the subscription's timeline, at most once an hour. Index used:
    /// `subscription_events_subscription`.
    public func noteRefusedTransfer(of name: SubscriptionName) async throws {
        let event = "transfer_refused"
        _ = try await database.query(
            """
            INSERT INTO subscription_events (
                bucket, accepted_on, id, recorded_at, said_at, publisher, environment, subscription_key, event, detail)
            SELECT \(.int2(Int16(name.bucket.number))), (now() AT TIME ZONE 'UTC')::date, \(.uuid(UUID())), clock_timestamp(), now(),
                   \(.text(name.publisher)), \(.text(name.environment)), \(.text(name.originalTransactionID)), \(.text(event)),
                   'another customer sent its purchase'
            WHERE NOT EXISTS (
                SELECT FROM subscription_events e
                WHERE \(name.isKey(of: "e")) AND e.recorded_at > now() - interval '1 hour' AND e.event = \(.text(event)))
            """)
    }
}
