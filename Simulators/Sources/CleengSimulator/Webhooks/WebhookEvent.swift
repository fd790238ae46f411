/// One event on its way out, as it will be sent.
struct WebhookEvent: AgendaEntry {
    enum Topic: String, Sendable {
        case validationSucceeded = "inappPurchaseValidationSucceeded"
        case validationFailed = "inappPurchaseValidationFailed"
        case synchronizationResult = "inappPurchaseSyncResult"
        case subscriptionCreated
        case subscriptionTerminated
    }

    /// An event from before a reset means nothing after it.
    let generation: Int
    /// Breaks ties between equal times in the order of what happened.
    let sequence: Int
    let dueAt: SimulatedTime
    let topic: Topic
    /// Whom it is about.
    let email: EmailAddress
    let body: [UInt8]

    static func < (left: WebhookEvent, right: WebhookEvent) -> Bool {
        (left.dueAt, left.sequence) < (right.dueAt, right.sequence)
    }

    static func == (left: WebhookEvent, right: WebhookEvent) -> Bool { left.sequence == right.sequence }
}

/// Result of an event.
struct WebhookDelivery: Sendable {
    let event: WebhookEvent
    /// 0 if the queue was full.
    let attempts: Int
    /// Status of the last attempt; nil if nothing answered.
    let status: Int?
    let endedAt: SimulatedTime

    var isTaken: Bool { status.map { (200..<300).contains($0) } ?? false }
}

/// The events that wait to be sent, the earliest first, and the results of the last ones that were.
struct WebhookOutbox: Sendable {
    static let deliveryLimit = 100

    private var waiting = Agenda<WebhookEvent>()
    private(set) var deliveries: [WebhookDelivery] = []
    private(set) var sent = 0
    private(set) var failed = 0
    private var lastSequence = 0
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Those under way left out.
    var count: Int { waiting.count }

    mutating func makeSequence() -> Int {
        lastSequence += 1
        return lastSequence
    }

    /// Where nobody takes the events off for long, the new ones are lost: the simulator must not grow without end.
    mutating func add(_ event: WebhookEvent) {
        guard waiting.count < capacity else {
            return note(WebhookDelivery(event: event, attempts: 0, status: nil, endedAt: event.dueAt))
        }
        waiting.add(event)
    }

    mutating func popDue(at now: SimulatedTime) -> WebhookEvent? { waiting.popDue(at: now) }

    mutating func note(_ delivery: WebhookDelivery) {
        if delivery.isTaken { sent += 1 } else { failed += 1 }
        if deliveries.count == Self.deliveryLimit { deliveries.removeFirst() }
        deliveries.append(delivery)
    }

    /// What waits is not sent any more.
    mutating func removeWaiting() { waiting = Agenda() }
}

/// How Cleeng says what came of a receipt that was good.
enum ValidationResult: String, Sendable {
    case created = "SubscriptionCreated"
    case transferred = "SubscriptionTransferred"
    /// The same receipt from the same customer again.
    case synchronized = "SubscriptionSynchronized"
    /// The same customer again, after the subscription had ended.
    case revived = "SubscriptionRevived"
}

/// A receipt that its owner sent once more: it changes nothing, and an event says so when it has been looked at.
struct RepeatedReceipt: AgendaEntry {
    let sequence: Int
    let dueAt: SimulatedTime
    let originalTransactionId: String
    let email: EmailAddress
    let offerId: OfferId

    static func < (left: RepeatedReceipt, right: RepeatedReceipt) -> Bool {
        (left.dueAt, left.sequence) < (right.dueAt, right.sequence)
    }

    static func == (left: RepeatedReceipt, right: RepeatedReceipt) -> Bool { left.sequence == right.sequence }
}
