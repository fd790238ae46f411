import Crypto
import Foundation
import Postgres
import RelayCore
import Testing

@testable import RelayStore

/// Six rows of a queue, in a database that is sealed; each of a customer or a subscription of its own.
struct QueuedItems {
    let queue: WorkQueue
    let database: TestDatabase
    let store: RelayStore
    private let endpoint: EndpointID

    static let count = 6

    static func run(_ queue: WorkQueue, _ body: (QueuedItems) async throws -> Void) async throws {
        try await TestDatabase.run { database in
            let vault = Vault()
            vault.state = .sealed(try #require(VaultKeys([1: .init(data: [UInt8](repeating: 1, count: 32))])))
            let store = await database.store("one", vault: vault)
            try await store.migrate()
            let items = QueuedItems(
                queue: queue, database: database, store: store, endpoint: try await store.makeEndpoint())
            for number in 0..<count { try await items.add(number) }
            try await body(items)
        }
    }

    private func add(_ number: Int) async throws {
        switch queue {
        case .events:
            _ = try await store.receiveEvent(
                topic: "test", body: Array(#"{"number":\#(number)}"#.utf8), now: try await database.now())
        case .webhooks:
            let message = NewDelivery.state(endpoint, "u\(number)", 1)
            _ = try await store.pool.withTransaction { try await $0.pipeline(DeliveryStatements.enqueue([message])) }
        case .notifications, .subscriptions:
            try await Notices(store: store, database: database, key: "100000000\(number)").come(
                "DID_RENEW", said: Double(number), isRelayed: queue == .notifications)
            try await makeDue()
        }
    }

    /// What is due is claimed, and given back by nobody.
    func claim() async throws -> [any ClaimedItem] {
        switch queue {
        case .events: try await store.claimEvents(limit: 10, lease: .seconds(600))
        case .webhooks: try await store.claimDeliveries(endpoint)
        case .notifications: try await store.claimNotifications(limit: 10, lease: .seconds(600))
        case .subscriptions: try await store.claimDueSubscriptions(limit: 10, lease: .seconds(600))
        }
    }

    func finish(_ item: any ClaimedItem) async throws {
        switch item {
        case let event as ClaimedEvent: try await store.finish(event, outcome: "done")
        case let delivery as ClaimedDelivery:
            #expect(try await store.written(delivery, .delivered) == .written(.delivered))
        case let notification as ClaimedNotification: try await store.record(.delivered, of: notification)
        case let subscription as ClaimedSubscription:
            _ = try await store.hear([LedgerMessage(subscription.name)], leeway: Notices.leeway)
            try await store.clear([subscription.row])
        default: Issue.record("what is it?")
        }
    }

    /// Lets pauses and leases end.
    func makeDue() async throws {
        try await database.run(
            """
            UPDATE \(queue.table) SET due_at = now() - interval '1 second'
            WHERE parked_at IS NULL AND (due_at IS NOT NULL OR '\(queue.table)' = 'ledgers')
            """)
    }

    /// What is sealed in the row, with its last byte gone; of a ledger the state.
    func poison(_ item: any ClaimedItem) async throws {
        switch (queue, item.row.key) {
        case (.subscriptions, .subscription(let name)):
            try await database.run("CREATE TABLE kept AS SELECT * FROM ledgers")
            try await database.run(
                "UPDATE ledgers SET state = '{' WHERE subscription_key = $1", .text(name.originalTransactionID))
        case (_, .id(let id)):
            try await database.run("CREATE TABLE kept AS SELECT * FROM \(contents)")
            let cut = queue == .webhooks ? "left(body, length(body) - 1)" : "substr(body, 1, octet_length(body) - 1)"
            try await database.run("UPDATE \(contents) SET body = \(cut) WHERE id = $1", .uuid(id.uuid))
        default: Issue.record("what is it?")
        }
    }

    func mend() async throws {
        if queue == .subscriptions {
            try await database.run(
                "UPDATE ledgers l SET state = k.state FROM kept k WHERE k.subscription_key = l.subscription_key")
        } else {
            try await database.run("UPDATE \(contents) c SET body = k.body FROM kept k WHERE k.id = c.id")
        }
    }

    private var contents: String {
        switch queue {
        case .events: "cleeng_events"
        case .webhooks: "webhook_deliveries"
        case .notifications: "notifications"
        case .subscriptions: "ledgers"
        }
    }

    /// As an operator does.
    ///
    /// - Returns: false where there is none in the scope.
    func replay(_ item: any ClaimedItem, in scope: OpsScope = .all) async throws -> Bool {
        switch item.row.key {
        case .id(let id):
            switch queue {
            case .events: return try await store.replayEvent(id, in: scope, by: "ops", reason: "mended")
            case .webhooks:
                return try await store.replayParkedDelivery(id, in: scope, by: "ops", reason: "mended")
            default:
                guard let (archived, _) = try await store.notification(id, in: scope) else { return false }
                let notification = StoreNotification(
                    version: .two, identity: "x", uuid: nil, type: archived.type, environment: archived.environment,
                    bundleID: nil, originalTransactionID: nil, saidAt: archived.signedAt, word: LedgerWord())
                try await store.transaction { store in
                    try await store.replay(archived, notification, isRelayed: true, leeway: Notices.leeway, by: "ops")
                    try await store.audit(
                        AuditEntry(actor: "ops", .notificationReplayed, "\(id)", of: archived.publisher))
                }
                return true
            }
        case .subscription(let name):
            return try await store.replaySubscription(name, in: scope, by: "ops", reason: "mended")
        }
    }

    /// The parked ones as the list shows them: id and reason.
    func listed(in scope: OpsScope = .all) async throws -> [(id: String, reason: String?)] {
        switch queue {
        case .events:
            try await store.events(matching: EventFilter(status: .parked), in: scope).items.map {
                ("\($0.id)", $0.lastError)
            }
        case .webhooks:
            try await store.deliveries(matching: DeliveryFilter(state: .parked), in: scope).items.map {
                ("\($0.id)", $0.lastError)
            }
        case .notifications:
            try await store.notifications(matching: NotificationFilter(relay: .parked), in: scope).items.map {
                ("\($0.id)", $0.lastError)
            }
        case .subscriptions:
            try await store.subscriptions(matching: SubscriptionFilter(isParked: true), in: scope).items.map {
                ("\($0.name.environment)/\($0.name.originalTransactionID)", $0.trouble)
            }
        }
    }

    /// How often each was tried, as the rows that are left say it.
    func tries() async throws -> [Int] {
        switch queue {
        case .events: try await database.column("SELECT attempts FROM cleeng_events ORDER BY 1")
        case .webhooks: try await database.column("SELECT tries FROM webhook_queue ORDER BY 1")
        case .notifications: try await database.column("SELECT attempts FROM notification_relays ORDER BY 1")
        case .subscriptions: []
        }
    }

    var strikes: [Int] {
        get async throws { try await database.column("SELECT strikes FROM \(queue.table) ORDER BY 1") }
    }
}
