import RelayCore

/// The statements of one aggregate. It holds nothing by itself: what is true stands in the database, what is remembered in ``StoreMemory``.
protocol Aggregate: Sendable {
    var relay: RelayStore { get }
}

/// What is bought: accepting, claiming, settling, polling, and the turns to ask Cleeng.
public struct PurchaseStore: Aggregate { let relay: RelayStore }
/// What the stores say of a subscription, whose it is, and what Cleeng says of a customer.
public struct SubscriptionStore: Aggregate { let relay: RelayStore }
/// Notifications of the stores, and the relays to Cleeng that are due.
public struct NotificationStore: Aggregate { let relay: RelayStore }
/// Purchases that the relay has to ask Google, Amazon or Roku about, after a notification or a grant.
public struct QuestionStore: Aggregate { let relay: RelayStore }
/// Apple's requests about refunds, and what publishers say of their customers for the answers.
public struct ConsumptionStore: Aggregate { let relay: RelayStore }
/// What Cleeng sent.
public struct EventStore: Aggregate { let relay: RelayStore }
/// Endpoints, and the messages that wait for them.
public struct WebhookStore: Aggregate { let relay: RelayStore }
/// A customer's purchases as the publisher reads them, and all of a person, to be shown or erased.
public struct CustomerStore: Aggregate { let relay: RelayStore }
/// Billing customers, orders and contracts.
public struct OrderStore: Aggregate { let relay: RelayStore }
/// What publishers sell.
public struct OfferStore: Aggregate { let relay: RelayStore }
/// Publishers, and which of them have accounts of their own at Cleeng.
public struct PublisherStore: Aggregate { let relay: RelayStore }
/// API keys.
public struct KeyStore: Aggregate { let relay: RelayStore }
/// The console's sessions.
public struct SessionStore: Aggregate { let relay: RelayStore }
/// The audit log.
public struct AuditStore: Aggregate { let relay: RelayStore }
/// The running copies of the relay.
public struct InstanceStore: Aggregate { let relay: RelayStore }
/// What the work queues besides the purchases' have in common.
public struct QueueStore: Aggregate { let relay: RelayStore }
/// What is too old, and the partitions it stands in.
public struct RetentionStore: Aggregate { let relay: RelayStore }
/// Jobs that one copy does for all.
public struct DutyStore: Aggregate { let relay: RelayStore }
/// The data keys, and the rows they seal.
public struct EncryptionStore: Aggregate { let relay: RelayStore }
/// The tables themselves.
public struct SchemaStore: Aggregate { let relay: RelayStore }
/// What happened in each hour.
public struct ActivityStore: Aggregate { let relay: RelayStore }
/// What operators look at, and what they do to it.
public struct OpsStore: Aggregate { let relay: RelayStore }

extension RelayStore {
    public var purchases: PurchaseStore { PurchaseStore(relay: self) }
    public var subscriptions: SubscriptionStore { SubscriptionStore(relay: self) }
    public var notifications: NotificationStore { NotificationStore(relay: self) }
    public var questions: QuestionStore { QuestionStore(relay: self) }
    public var consumption: ConsumptionStore { ConsumptionStore(relay: self) }
    public var events: EventStore { EventStore(relay: self) }
    public var webhooks: WebhookStore { WebhookStore(relay: self) }
    public var customers: CustomerStore { CustomerStore(relay: self) }
    public var orders: OrderStore { OrderStore(relay: self) }
    public var offers: OfferStore { OfferStore(relay: self) }
    public var publishers: PublisherStore { PublisherStore(relay: self) }
    public var keys: KeyStore { KeyStore(relay: self) }
    public var sessions: SessionStore { SessionStore(relay: self) }
    public var audit: AuditStore { AuditStore(relay: self) }
    public var instances: InstanceStore { InstanceStore(relay: self) }
    public var queues: QueueStore { QueueStore(relay: self) }
    public var retention: RetentionStore { RetentionStore(relay: self) }
    public var duties: DutyStore { DutyStore(relay: self) }
    public var encryption: EncryptionStore { EncryptionStore(relay: self) }
    public var schema: SchemaStore { SchemaStore(relay: self) }
    public var activity: ActivityStore { ActivityStore(relay: self) }
    public var ops: OpsStore { OpsStore(relay: self) }
}

extension Aggregate {
    var database: Database { relay.database }
    var memory: StoreMemory { relay.memory }
}
