/// The events that wait to be sent, the earliest first, and what became of the last ones that were.
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

    mutating func popDue(at now: Moment) -> WebhookEvent? { waiting.popDue(at: now) }

    mutating func note(_ delivery: WebhookDelivery) {
        if delivery.isTaken { sent += 1 } else { failed += 1 }
        if deliveries.count == Self.deliveryLimit { deliveries.removeFirst() }
        deliveries.append(delivery)
    }

    /// What waits is not sent any more.
    mutating func removeWaiting() { waiting = Agenda() }
}
