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
    let dueAt: Moment
    let topic: Topic
    /// Whom it is about.
    let email: CustomerEmail
    let body: [UInt8]

    static func < (left: WebhookEvent, right: WebhookEvent) -> Bool {
        (left.dueAt, left.sequence) < (right.dueAt, right.sequence)
    }

    static func == (left: WebhookEvent, right: WebhookEvent) -> Bool { left.sequence == right.sequence }
}
