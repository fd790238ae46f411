/// What became of an event.
struct WebhookDelivery: Sendable {
    let event: WebhookEvent
    /// 0 where there was no room for it.
    let attempts: Int
    /// Of the last attempt; nil where nothing answered.
    let status: Int?
    let endedAt: Moment

    var isTaken: Bool { status.map { (200..<300).contains($0) } ?? false }
}
