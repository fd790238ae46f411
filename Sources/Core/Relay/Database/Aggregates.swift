import RelayCore

/// The statements of one aggregate. An aggregate has no state of its own: facts are in the database, caches in
/// ``StoreMemory``.
package protocol Aggregate: Sendable {
    var relay: RelayStore { get }
}

/// Purchases: accept, claim, settle and poll them, and take a customer's turn to be read at Cleeng.
public struct PurchaseStore: Aggregate { package let relay: RelayStore }
/// Subscriptions: the stores' statements, the owners, and Cleeng's statements about customers.
public struct SubscriptionStore: Aggregate { package let relay: RelayStore }
/// Notifications of the stores, and those that must be forwarded to Cleeng.
public struct NotificationStore: Aggregate { package let relay: RelayStore }
/// Questions to stores other than Apple's about purchases, after a notification or a grant.
public struct QuestionStore: Aggregate { package let relay: RelayStore }
/// Apple's consumption requests, and the publishers' statements about customers for the answers.
public struct ConsumptionStore: Aggregate { package let relay: RelayStore }
/// Events from Cleeng.
public struct EventStore: Aggregate { package let relay: RelayStore }
/// Webhook endpoints and their waiting messages.
public struct WebhookStore: Aggregate { package let relay: RelayStore }
/// A customer's purchases as the publisher reads them, and all data of a person for export or erasure.
public struct CustomerStore: Aggregate { package let relay: RelayStore }
/// Offers of publishers.
public struct OfferStore: Aggregate { package let relay: RelayStore }
/// Publishers, and which of them have their own account at Cleeng.
public struct PublisherStore: Aggregate { package let relay: RelayStore }
/// API keys.
public struct KeyStore: Aggregate { package let relay: RelayStore }
/// The audit log.
public struct AuditStore: Aggregate { package let relay: RelayStore }
/// The running copies of the relay.
public struct InstanceStore: Aggregate { package let relay: RelayStore }
/// Operations that all work queues except that of purchases share.
public struct QueueStore: Aggregate { package let relay: RelayStore }
/// Old rows and the weekly partitions that contain them.
public struct RetentionStore: Aggregate { package let relay: RelayStore }
/// Jobs that one copy does for all copies.
public struct DutyStore: Aggregate { package let relay: RelayStore }
/// The data keys, and the rows that are sealed with them.
public struct EncryptionStore: Aggregate { package let relay: RelayStore }
/// The schema itself.
public struct SchemaStore: Aggregate { package let relay: RelayStore }
/// Counts of activity for the charts.
public struct ActivityStore: Aggregate { package let relay: RelayStore }
/// Reads and actions of operators.
public struct OpsStore: Aggregate { package let relay: RelayStore }

extension RelayStore {
    public var purchases: PurchaseStore { PurchaseStore(relay: self) }
    public var subscriptions: SubscriptionStore { SubscriptionStore(relay: self) }
    public var notifications: NotificationStore { NotificationStore(relay: self) }
    public var questions: QuestionStore { QuestionStore(relay: self) }
    public var consumption: ConsumptionStore { ConsumptionStore(relay: self) }
    public var events: EventStore { EventStore(relay: self) }
    public var webhooks: WebhookStore { WebhookStore(relay: self) }
    public var customers: CustomerStore { CustomerStore(relay: self) }
    public var offers: OfferStore { OfferStore(relay: self) }
    public var publishers: PublisherStore { PublisherStore(relay: self) }
    public var keys: KeyStore { KeyStore(relay: self) }
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
    package var database: Database { relay.database }
    package var memory: StoreMemory { relay.memory }
}
