import Crypto
import Foundation
import Postgres
import RelayCore
import Testing

@testable import Relay

/// Six rows of a queue in a sealed database, each of its own customer or subscription.
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
            try await store.schema.migrate()
            let items = QueuedItems(
                queue: queue, database: database, store: store, endpoint: try await store.makeEndpoint())
            for number in 0..<count { try await items.add(number) }
            try await body(items)
        }
    }

    private func add(_ number: Int) async throws {
        switch queue {
        case .events:
            _ = try await store.events.receive(
                topic: "test", body: Array(#"{"number":\#(number)}"#.utf8), now: try await database.now())
        case .webhooks:
            let message = NewDelivery.state(endpoint, "u\(number)", 1)
            _ = try await store.database.withTransaction {
                try await $0.pipeline(DeliveryStatements.enqueue([message]))
            }
        case .notifications, .subscriptions:
            try await Notices(store: store, database: database, key: "100000000\(number)").come(
                "DID_RENEW", said: Double(number), isRelayed: queue == .notifications)
            try await makeDue()
        case .consumption:
            let key = TransactionID("100000000\(number)")
            var notification = StoreNotification(
                version: .two, identity: "2:\(number)", uuid: nil, type: "CONSUMPTION_REQUEST",
                environment: .production,
                bundleID: "com.example.app", originalTransactionID: key, saidAt: try await database.now())
            notification.consumption = ConsumptionDemand(transactionID: key, reason: nil, renews: true)
            _ = try await store.notifications.receive(
                ReceivedNotification(notification, body: [], isRelayed: PerPublisher(false)),
                now: try await database.now())
        case .questions:
            let key = TransactionID("google:\(number)")
            let name = SubscriptionName(publisher: .first, environment: .production, originalTransactionID: key)
            _ = try await store.subscriptions.record(
                [LedgerMessage(name, .over(statedAt: try await database.now()))])
            _ = try await store.notifications.receive(
                ReceivedNotification(.google(key), body: [], isRelayed: PerPublisher(false)),
                now: try await database.now())
        }
    }

    /// Claims due rows without releasing them.
    func claim() async throws -> [any ClaimedItem] {
        switch queue {
        case .events: try await store.events.claim(limit: 10, lease: .seconds(600))
        case .webhooks: try await store.webhooks.claim(endpoint)
        case .notifications: try await store.notifications.claim(limit: 10, lease: .seconds(600))
        case .subscriptions: try await store.subscriptions.claimDue(limit: 10, lease: .seconds(600))
        case .consumption: try await store.consumption.claim([.production: 10], lease: .seconds(600))
        case .questions: try await store.questions.claim([.google: 10], lease: .seconds(600))
        }
    }

    func finish(_ item: any ClaimedItem) async throws {
        switch item {
        case let event as ClaimedEvent: try await store.events.finish(event, outcome: "done")
        case let delivery as ClaimedDelivery:
            #expect(try await store.written(delivery, .delivered) == .written(.delivered))
        case let notification as ClaimedNotification: try await store.notifications.record(.delivered, of: notification)
        case let subscription as ClaimedSubscription:
            _ = try await store.subscriptions.record([LedgerMessage(subscription.name)])
            try await store.queues.clear([subscription.row])
        case let question as ClaimedQuestion:
            let known = try await store.questions.known(question)
            #expect(known.count == 1)
            _ = try await store.subscriptions.record(known.map { LedgerMessage($0.name) })
            try await store.questions.end(question)
        case let request as ClaimedConsumption:
            #expect(try await store.consumption.purchase(of: request) == nil)
            #expect(try await store.consumption.end(request, .noConsent))
        default: Issue.record("what is it?")
        }
    }

    /// Ends pauses and leases.
    func makeDue() async throws {
        try await database.run(
            """
            UPDATE \(queue.form.table) SET due_at = now() - interval '1 second'
            WHERE parked_at IS NULL AND (due_at IS NOT NULL OR '\(queue.form.table)' = 'ledgers')
            """)
    }

    /// Cuts the last byte of the row's sealed value, or corrupts a ledger's state.
    func poison(_ item: any ClaimedItem) async throws {
        switch (queue, item.row.key) {
        case (.subscriptions, .subscription(let name)), (.questions, .subscription(let name)):
            try await database.run("CREATE TABLE kept AS SELECT * FROM ledgers")
            try await database.run(
                "UPDATE ledgers SET state = '{' WHERE subscription_key = $1", .text(name.originalTransactionID))
        case (.consumption, .id(let id)):
            try await database.run(
                "UPDATE consumption_requests SET username = 'none', sealed_by = 1 WHERE id = $1", .uuid(id.uuid))
        case (_, .id(let id)):
            try await database.run("CREATE TABLE kept AS SELECT * FROM \(contents)")
            let cut = queue == .webhooks ? "left(body, length(body) - 1)" : "substr(body, 1, octet_length(body) - 1)"
            try await database.run("UPDATE \(contents) SET body = \(cut) WHERE id = $1", .uuid(id.uuid))
        default: Issue.record("what is it?")
        }
    }

    func mend() async throws {
        if queue == .consumption {
            try await database.run("UPDATE consumption_requests SET username = NULL, sealed_by = NULL")
        } else if contents == "ledgers" {
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
        case .subscriptions, .questions: "ledgers"
        case .consumption: "consumption_requests"
        }
    }

    /// Replays a row like an operator.
    ///
    /// - Returns: false if the scope has no such row.
    func replay(_ item: any ClaimedItem, in scope: OpsScope = .all) async throws -> Bool {
        switch item.row.key {
        case .id(let id):
            switch queue {
            case .events: return try await store.ops.replayEvent(id, in: scope, by: "ops", reason: "mended")
            case .webhooks:
                return try await store.ops.replayParkedDelivery(id, in: scope, by: "ops", reason: "mended")
            default:
                guard let (archived, _) = try await store.ops.notification(id, in: scope) else { return false }
                let notification = StoreNotification(
                    version: .two, identity: "x", uuid: nil, type: archived.type, environment: archived.environment,
                    bundleID: nil, originalTransactionID: nil, saidAt: archived.signedAt, statement: LedgerStatement())
                try await store.transaction { store in
                    try await store.ops.replay(
                        archived, notification, isRelayed: true, by: "ops")
                    try await store.audit.add(
                        AuditEntry(actor: "ops", .notificationReplayed, "\(id)", of: archived.publisher))
                }
                return true
            }
        case .subscription(let name) where queue == .questions:
            let filter = NotificationFilter(originalTransactionID: name.originalTransactionID)
            guard let archived = try await store.ops.notifications(matching: filter, in: scope).items.first else {
                return false
            }
            try await store.transaction { store in
                try await store.ops.replay(
                    archived, .google(name.originalTransactionID), isRelayed: true, by: "ops")
                try await store.audit.add(
                    AuditEntry(actor: "ops", .notificationReplayed, "\(archived.id)", of: archived.publisher))
            }
            return true
        case .subscription(let name):
            return try await store.ops.replaySubscription(name, in: scope, by: "ops", reason: "mended")
        }
    }

    /// Parked rows as lists show them: id and reason.
    func listed(in scope: OpsScope = .all) async throws -> [(id: String, reason: String?)] {
        switch queue {
        case .events:
            try await store.ops.events(matching: EventFilter(status: .parked), in: scope).items.map {
                ("\($0.id)", $0.lastError)
            }
        case .webhooks:
            try await store.webhooks.deliveries(matching: DeliveryFilter(state: .parked), in: scope).items.map {
                ("\($0.id)", $0.lastError)
            }
        case .notifications:
            try await store.ops.notifications(matching: NotificationFilter(relay: .parked), in: scope).items.map {
                ("\($0.id)", $0.lastError)
            }
        case .consumption:
            try await store.consumption.list(matching: ConsumptionFilter(), in: scope).items.filter {
                $0.parkedAt != nil
            }.map {
                ("\($0.id)", $0.lastError)
            }
        case .questions:
            try await store.ops.notifications(matching: NotificationFilter(relay: .parked), in: scope).items.map {
                ("\($0.environment)/\($0.originalTransactionID?.text ?? "")", $0.lastError)
            }
        case .subscriptions:
            try await store.ops.subscriptions(matching: SubscriptionFilter(isParked: true), in: scope).items.map {
                ("\($0.name.environment)/\($0.name.originalTransactionID)", $0.trouble)
            }
        }
    }

    /// Number of tries of each remaining row.
    func tries() async throws -> [Int] {
        switch queue {
        case .events: try await database.column("SELECT attempts FROM cleeng_events ORDER BY 1")
        case .webhooks: try await database.column("SELECT tries FROM webhook_queue ORDER BY 1")
        case .notifications: try await database.column("SELECT attempts FROM notification_relays ORDER BY 1")
        case .consumption:
            try await database.column("SELECT attempts FROM consumption_requests WHERE state <= 2 ORDER BY 1")
        case .questions: try await database.column("SELECT attempts FROM store_questions ORDER BY 1")
        case .subscriptions: []
        }
    }

    var strikes: [Int] {
        get async throws { try await database.column("SELECT strikes FROM \(queue.form.table) ORDER BY 1") }
    }
}

extension StoreNotification {
    /// A notification from Google about a purchase.
    static func google(
        _ key: TransactionID, _ id: String = UUID().uuidString, type: String = "SUBSCRIPTION_REVOKED",
        saidAt: Timestamp? = nil
    )
        -> StoreNotification
    {
        var notification = StoreNotification(
            version: .one, identity: "google\n\(id)", uuid: id, type: type, environment: .unknown,
            bundleID: "com.example.app", originalTransactionID: key, saidAt: saidAt)
        notification.store = .google
        return notification
    }
}
