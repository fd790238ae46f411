import Foundation
import Postgres
public import RelayCore

/// Other owners of a subscription, for purchases that may not take it from them.
extension SubscriptionStore {
    public struct RunningOwner: Sendable, Equatable {
        public var name: SubscriptionName
        public var customer: CustomerID
        public var username: Username
    }

    /// The owners whose access runs on any of these subscriptions, under any id that the ledger has for them. An owner's
    /// validation may be gone, by retention, or ended, because the product changed; then the ledger decides. Indexes
    /// used: primary keys.
    ///
    /// - Parameter names: everything that a purchase could take. Cleeng may have granted one of them that its store had not
    ///   confirmed.
    public func runningOwners(of names: [SubscriptionName]) async throws -> [RunningOwner] {
        let known = try await SubscriptionHistory.names(of: names) { try await database.query($0) }
        let all = known + known.compactMap(\.unconfirmed).filter { !known.contains($0) }
        return try await database.query(
            """
            SELECT s.publisher, s.environment, s.subscription_key, ROW(s.sealed_by, s.customer) AS customer,
                   ROW(s.sealed_by, s.application_username) AS username
            FROM \(.subscriptions(all), as: "i")
            CROSS JOIN LATERAL (SELECT * FROM subscriptions s WHERE \(.sameSubscription("s", "i")) OFFSET 0) AS s
            CROSS JOIN LATERAL (
                SELECT coalesce(
                    (SELECT v.status FROM validations v
                     WHERE v.bucket = coalesce(s.validation_bucket, s.bucket) AND v.accepted_on = s.accepted_on AND v.id = s.id),
                    \(ValidationStatus.revoked)) AS status
            ) AS v
            WHERE s.customer IS NOT NULL
              AND (v.status = \(ValidationStatus.granted)
                   OR v.status = \(ValidationStatus.revoked) AND EXISTS (
                       SELECT FROM ledgers l
                       WHERE \(.sameSubscription("l", "s")) AND \(SubscriptionState.runs) AND NOT l.has_moved))
            """
        ).map { row in
            RunningOwner(
                name: try row.subscriptionName(), customer: try row.open("customer"),
                username: try row.open("username"))
        }
    }

    public enum Precedence: Sendable, Equatable {
        case owner
        /// Another customer whose purchase of it Cleeng has accepted without a result yet, while the app still waits.
        case waiting
    }

    /// The customer with precedence over a purchase. Index used in addition: `pursuits_subscription`.
    public func precedence(over claimed: ClaimedPursuit) async throws -> Precedence? {
        let names = [claimed.name] + claimed.takes
        // Query waiters before the owner. A grant that commits between the two queries removes the waiter and sets the
        // owner.
        let waiting = try await database.query(
            """
            SELECT ROW(p.sealed_by, p.customer) AS customer
            FROM \(.subscriptions(names), as: "i")
            CROSS JOIN LATERAL (SELECT * FROM pursuits p WHERE \(.sameSubscription("p", "i")) OFFSET 0) AS p
            WHERE p.phase IN \(Pursuit.Phase.taken)
              AND p.status = \(ValidationStatus.pending) AND p.deadline > now()
            """)
        if try waiting.contains(where: { try $0.open("customer", as: CustomerID.self) != claimed.customer }) {
            return .waiting
        }
        return try await runningOwners(of: names).contains { $0.customer != claimed.customer } ? .owner : nil
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
        return try await runningOwners(of: [claimed.name] + claimed.takes).contains { $0.customer != claimed.customer }
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
