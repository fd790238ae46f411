import Formats
import Foundation
import Postgres
import RelayCore

@testable import Relay

/// Notifications as the front records them.
struct Notices {

    var store: RelayStore
    var database: TestDatabase
    /// Subscription of all notifications. Each period is one day long; statements are a second apart, from now on.
    var key = "1000000001"
    var isRelayed = true
    /// Base of all offsets in seconds. `nil` uses the time of each call.
    var from: Timestamp?

    func at(_ seconds: Double) async throws -> Timestamp {
        let now = if let from { from } else { try await database.now() }
        return now + .seconds(rounded: seconds)
    }

    /// - Parameters:
    ///   - said: time of the statement, in seconds from now.
    ///   - ends: in seconds from now. The period begins at the statement, unless another start is given.
    @discardableResult
    func come(
        _ type: String, said: Double, period: String = "1", began: Double? = nil, ends: Double = 86_400,
        revoked: LedgerPeriod.Revocation.Kind? = nil, over: Bool? = nil, willRenew: Bool? = true,
        grace: Double? = nil, retry: Bool = false, uuid: String = UUID().uuidString, environment: String = "Production",
        movedFrom: String? = nil, isRelayed: Bool? = nil, to store: RelayStore? = nil
    ) async throws -> ReceiveOutcome {
        let saidAt = try await at(said)
        let word = LedgerStatement(
            periods: [
                LedgerPeriod(
                    id: TransactionID(period), productID: "com.example.monthly",
                    purchasedAt: try await at(began ?? said),
                    expiresAt: try await at(ends),
                    revocation: revoked.map { .init(at: saidAt, kind: $0) }, statedAt: saidAt)
            ],
            renewal: LedgerRenewal(
                willRenew: willRenew, productID: "com.example.monthly", isInBillingRetry: retry,
                graceUntil: try await grace.asyncMap { try await at($0) }, statedAt: saidAt),
            end: try await over.asyncMap { isOver in
                LedgerEnd(isOver: isOver, until: isOver ? try await at(ends) : nil, statedAt: saidAt)
            }, movesFrom: movedFrom.map { [TransactionID($0)] } ?? [], isCurrentAt: movedFrom.map { _ in saidAt })
        let notification = StoreNotification(
            version: .two, identity: "2:\(uuid)", uuid: uuid, type: type, environment: StoreEnvironment(environment),
            bundleID: "com.example.tv", originalTransactionID: TransactionID(key), saidAt: saidAt, statement: word)
        return try await (store ?? self.store).notifications.receive(
            ReceivedNotification(
                notification, body: Array(#"{"signedPayload":"a.b.c"}"#.utf8),
                isRelayed: PerPublisher(isRelayed ?? self.isRelayed)), now: try await database.now())
    }

    /// Evaluates the due ledgers, like the ledger service.
    @discardableResult
    func keep() async throws -> [LedgerView] {
        let due = try await store.subscriptions.claimDue(limit: 100, lease: .seconds(60))
        return try await store.subscriptions.record(due.map { LedgerMessage($0.name) })
    }

    func subscription() async throws -> OpsSubscription? {
        try await store.ops.subscriptions(matching: SubscriptionFilter(originalTransactionID: TransactionID(key))).items
            .first
    }
}

extension Optional {
    func asyncMap<T>(_ body: (Wrapped) async throws -> T) async rethrows -> T? {
        guard let self else { return nil }
        return try await body(self)
    }
}

extension Acceptance {
    /// The purchase with its receipt's statement: a period that ends at `ends`.
    func saying(_ period: String, ends: Timestamp, statedAt: Timestamp) -> Acceptance {
        var acceptance = self
        acceptance.periods = [
            LedgerPeriod(
                id: TransactionID(period), productID: "com.example.monthly", purchasedAt: statedAt, expiresAt: ends,
                statedAt: statedAt)
        ]
        return acceptance
    }
}
