public import RelayCore

extension AuditRecord: Viewed {
    public static let fields: [Field<AuditRecord>] = [
        Field("at", "At") { $0.at },
        Field("actor", "Who") { $0.actor },
        Field("action", "Action") { $0.action },
        Field("target", "To what") { $0.target.value },
        Field("reason", "Why") { $0.reason?.value },
    ]
}

extension APIKey: Viewed {
    public static let fields: [Field<APIKey>] = [
        Field("id", "ID") { $0.id },
        Field("role", "Role") { $0.role.name },
        Field("publisher", "Publisher") { $0.scopeText },
        Field("app", "App") { $0.app.isEmpty ? nil : $0.app },
        Field("createdAt", "Created") { $0.createdAt },
        Field("revokedAt", "Revoked") { $0.revokedAt },
        Field("name", "Name") { $0.name },
    ]
}

extension Publisher: Viewed {
    public static let fields: [Field<Publisher>] = [
        Field("id", "ID") { $0.id },
        Field("createdAt", "Created") { $0.createdAt },
        Field("keys", "Keys") { $0.keys },
        Field("offers", "Offers") { $0.offers },
        Field("endpoints", "Endpoints") { $0.endpoints },
        // Which account at Cleeng the publisher uses.
        Field("account", "Account") { $0.hasOwnAccount ? "own" : "common" },
    ]
}

extension RunningCopy: Viewed {
    public static let fields: [Field<RunningCopy>] = [
        Field("id", "Copy") { $0.id },
        Field("role", "Role") { $0.role },
        Field("startedAt", "Started") { $0.startedAt },
        Field("lastSeenSeconds", "Last seen") { $0.lastSeen }.worded { "\($0.lastSeen.spoken) ago" },
        Field("upstream", "Cleeng") { $0.upstreamText },
        Field("lastError", "Last error") { $0.report.lastError },
    ]
}

/// An offer of one publisher.
public struct PublishersOffer: Viewed {
    public var publisher: PublisherID
    public var offer: Offer

    public init(_ one: (publisher: PublisherID, offer: Offer)) { (publisher, offer) = one }

    public static let fields: [Field<PublishersOffer>] = [
        Field("publisher", "Publisher") { $0.publisher },
        Field("offerId", "Offer") { $0.offer.id },
        Field("name", "Name") { $0.offer.name },
        Field("products", "Products") { FieldValue.list($0.offer.products.map(\.fieldValue)) },
        Field("coupons", "Coupons") { FieldValue.list($0.offer.coupons.map(\.code.fieldValue)) },
    ]
}

extension UnmappedOffer: Viewed {
    public static let fields: [Field<UnmappedOffer>] = [
        Field("publisher", "Publisher") { $0.publisher },
        Field("offerId", "Offer") { $0.offerID },
        Field("product", "Product") { $0.product },
        Field("purchases", "Purchases") { $0.purchases },
        Field("problem", "State") { $0.isMapped ? "product_mismatch" : "offer_without_products" },
    ]
}

extension StoreHealth: Viewed {
    public static let fields: [Field<StoreHealth>] = [
        Field("store", "Store") { $0.store }.worded { StorePlatform(rawValue: $0.store)?.title ?? $0.store },
        Field("lastNotificationAt", "Last notification") { $0.lastNotificationAt },
        Field("waiting", "Questions waiting") { $0.waiting },
        Field("oldestWaitingSeconds", "Longest wait") { $0.oldestWaiting }.worded { $0.oldestWaiting?.spoken },
        Field("parked", "Parked") { $0.parked },
        Field("sweptAt", "Swept") { $0.sweptAt },
        Field("sweepError", "Sweep's error") { $0.sweepTrouble },
        Field("topics", "Topics") { one in
            FieldValue.list(
                one.topics.map { topic in .object(TopicSubscription.fields.map { ($0.name, $0.value(topic)) }) })
        }.worded { one in
            let open = one.topics.filter { $0.state != .confirmed }
            return one.topics.isEmpty
                ? nil : (open.isEmpty ? one.topics : open).map(\.state.name).joined(separator: " ")
        },
    ]
}

extension TopicSubscription: Viewed {
    public static let fields: [Field<TopicSubscription>] = [
        Field("topic", "Topic") { $0.topic },
        Field("state", "State") { $0.state.name },
        Field("since", "Since") { $0.since },
        Field("notificationId", "Notification") { $0.notification },
    ]
}

extension OpsSummary: Viewed {
    public static let fields: [Field<OpsSummary>] = [
        Field("countsByStatus") { one in
            FieldValue.object(
                ValidationStatus.allCases.map { ($0.name, .number(one.countsByStatus[$0] ?? 0)) })
        },
        Field("oldestPendingSeconds") { $0.oldestPending },
        Field("upstream") { one in
            // If no worker runs, nothing reaches Cleeng, whatever Cleeng's own state is.
            FieldValue.object([
                ("state", .text(one.upstream?.state.rawValue ?? "down")),
                ("since", one.upstream?.since.fieldValue ?? .null),
                (
                    "lastError",
                    one.upstream.map { $0.lastError?.fieldValue ?? .null } ?? .text("no worker is running")
                ),
            ])
        },
        Field("backlog") { one in FieldValue.object(one.backlogFields) },
        Field("stores") { one in
            FieldValue.list(
                one.stores.map { store in
                    .object(StoreHealth.fields.map { ($0.name, $0.value(store)) })
                })
        },
    ]

    private var backlogFields: [(name: String, value: FieldValue)] {
        [
            ("forwarding", .number(backlog.forwarding)), ("watching", .number(backlog.watching)),
            ("parked", .number(backlog.parked)), ("overdue", .number(backlog.overdue)),
            ("oldestForwardingSeconds", backlog.oldestForwarding?.fieldValue ?? .null),
            ("oldestParkedSeconds", backlog.oldestParked?.fieldValue ?? .null),
            ("outbox", .number(backlog.outbox)),
            ("notifications", .number(notifications.waiting)),
            ("notificationsRefused", .number(notifications.refused)),
            ("oldestNotificationSeconds", notifications.oldest?.fieldValue ?? .null),
            ("webhooks", .number(webhooks.waiting)), ("webhooksRetrying", .number(webhooks.retrying)),
            ("oldestWebhookSeconds", webhooks.oldest?.fieldValue ?? .null),
            ("webhookEndpointsFailing", .number(webhooks.failing)),
            ("webhookEndpointsDisabled", .number(webhooks.disabled)),
            ("consumption", .number(consumption.waiting)),
            ("consumptionWithoutConsent", .number(consumption.withoutConsent)),
            ("oldestConsumptionSeconds", consumption.oldest?.fieldValue ?? .null),
            ("eventsParked", .number(parkedItems[.events])),
            ("webhooksParked", .number(parkedItems[.webhooks])),
            ("notificationsParked", .number(parkedItems[.notifications])),
            ("subscriptionsParked", .number(parkedItems[.subscriptions])),
            ("questionsParked", .number(parkedItems[.questions])),
            ("consumptionParked", .number(parkedItems[.consumption])),
            ("oldestItemParkedSeconds", parkedItems.oldest?.fieldValue ?? .null),
            ("accessUnwatched", .number(accessProblems[.unwatched] ?? 0)),
            ("accessOverdue", .number(accessProblems[.overdue] ?? 0)),
        ]
    }
}
