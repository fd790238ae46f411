import RelayCore

extension NotificationStore {
    /// Messages to the publisher's endpoints about a notification that concerns no purchase.
    func notices(of notification: StoreNotification, publisher: PublisherID) async throws -> [NewDelivery] {
        guard let notice = notification.notice else { return [] }
        let isSandbox = SubscriptionName(
            publisher: publisher, environment: notification.environment, originalTransactionID: ""
        ).isSandbox
        let endpoints = try await relay.webhooks.endpoints(in: .publisher(publisher)).filter { endpoint in
            guard endpoint.isActive, endpoint.kind == .purchases else { return false }
            return switch endpoint.environment {
            case .all: true
            case .production: !isSandbox
            case .sandbox: isSandbox
            }
        }
        return endpoints.map { endpoint in
            NewDelivery(
                notice: #"\#(WebhookBody.noticeHead)"notification":\#(notice)}"#, endpoint: endpoint.id,
                publisher: publisher, at: memory.clock.nowOrHostTime)
        }
    }
}
