/// An event that waits to be sent.
struct WebhookEvent: AgendaEntry {
    enum Topic: String, Sendable {
        case validationSucceeded = "inappPurchaseValidationSucceeded"
        case validationFailed = "inappPurchaseValidationFailed"
        case synchronizationResult = "inappPurchaseSyncResult"
        case subscriptionCreated
        case subscriptionTerminated
    }

    /// Events from before a reset are ignored after it.
    let generation: Int
    /// Breaks ties between equal times by the order of events.
    let sequence: Int
    let dueAt: SimulatedTime
    let topic: Topic
    /// The customer whom it concerns.
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

/// Waiting events, the earliest first, and the results of recently sent ones.
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

    /// Number of waiting events, without those being sent.
    var count: Int { waiting.count }

    mutating func makeSequence() -> Int {
        lastSequence += 1
        return lastSequence
    }

    /// If the receiver does not accept events for long, new ones are lost: the simulator's memory must be bounded.
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

    /// Drops waiting events.
    mutating func removeWaiting() { waiting = Agenda() }
}

/// Result of a valid receipt, in Cleeng's terms.
enum ValidationResult: String, Sendable {
    case created = "SubscriptionCreated"
    case transferred = "SubscriptionTransferred"
    /// The same receipt from the same customer again.
    case synchronized = "SubscriptionSynchronized"
    /// The same customer again, after the subscription had ended.
    case revived = "SubscriptionRevived"
}

/// A receipt that its owner sent again. It changes nothing, and an event reports that after the check.
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
