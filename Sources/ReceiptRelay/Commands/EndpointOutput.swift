import RelayCore
import RelayStore

/// An endpoint as `webhooks list --json` has it.
struct EndpointOutput: Encodable {
    let id: String
    let url: String
    let publisher: PublisherID
    let environment: StoreEnvironment
    let state: String
    let disabledReason: String?
    let disabledAt: String?
    let failingSince: String?
    let lastSuccessAt: String?
    let createdAt: String
    let fromSettings: Bool

    init(_ endpoint: WebhookEndpoint) {
        id = endpoint.id.description
        url = endpoint.url
        publisher = endpoint.publisher
        environment = StoreEnvironment(endpoint.environment.name)
        state = endpoint.isActive ? "active" : "disabled"
        disabledReason = endpoint.disabledReason
        disabledAt = endpoint.disabledAt?.rfc3339
        failingSince = endpoint.failingSince?.rfc3339
        lastSuccessAt = endpoint.lastSuccessAt?.rfc3339
        createdAt = endpoint.createdAt.rfc3339
        fromSettings = endpoint.isFromSettings
    }
}
