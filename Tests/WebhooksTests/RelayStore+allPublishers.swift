import Relay
import RelayCore

/// Reads of operators for tests with one publisher, with every publisher in scope. The product has no such default.
extension WebhookStore {
    func delivery(_ id: DeliveryID) async throws -> OpsDelivery? { try await delivery(id, in: .all) }

    func endpoints() async throws -> [WebhookEndpoint] { try await endpoints(in: .all) }

    func endpoint(_ id: EndpointID) async throws -> WebhookEndpoint? { try await endpoint(id, in: .all) }
}
