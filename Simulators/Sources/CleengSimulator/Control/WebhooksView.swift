/// Where events go, and what became of the last ones, as the control API shows it.
struct WebhooksView: Encodable {
    struct DeliveryView: Encodable {
        let topic: String
        let customerEmail: String
        let attempts: Int
        let status: Int?
        let endedAt: String
        let body: JSONValue?
    }

    let url: String?
    let secret: String
    let signatureHeader: String?
    let signatureEncoding: String?
    let withEmail: Bool?
    let waiting: Int
    let deliveries: [DeliveryView]

    init(_ cleeng: SimulatedCleeng) {
        let target = cleeng.webhooks
        url = target?.url
        secret = (target == nil ? TokenPresence.absent : .present).rawValue
        signatureHeader = target?.signatureHeader
        signatureEncoding = target?.signatureEncoding.rawValue
        withEmail = target?.withEmail
        waiting = cleeng.outbox.count
        deliveries = cleeng.outbox.deliveries.map { delivery in
            DeliveryView(
                topic: delivery.event.topic.rawValue, customerEmail: delivery.event.email.text,
                attempts: delivery.attempts, status: delivery.status, endedAt: delivery.endedAt.iso8601,
                body: JSONValue.parse(delivery.event.body))
        }
    }
}
