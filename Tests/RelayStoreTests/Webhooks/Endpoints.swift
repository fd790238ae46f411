import Postgres
import RelayCore
import Testing

@testable import Relay

extension RelayStore {
    static let mark = BodyMark(number: 1)

    func makeEndpoint(_ url: String = "https://shop.example.com/hook") async throws -> EndpointID {
        try await webhooks.ensureFirstPublisher()
        return try #require(try await webhooks.addEndpoint(publisher: "main", url: url))
    }

    /// Writes an outcome like the delivery service.
    func written(_ claimed: ClaimedDelivery, _ outcome: DeliveryOutcome, status: Int? = 200) async throws
        -> DeliveryRecordOutcome
    {
        try await DeliveryRecorder(store: self).record(DeliveryRecord(claimed, outcome, status: status, error: nil))
    }

    func state(_ delivery: NewDelivery) async throws -> DeliveryState? {
        try await self.webhooks.delivery(delivery.id)?.state
    }
}

extension WebhookStore {
    func claim(_ id: EndpointID, _ room: Int = 10, lease: Duration = .seconds(600)) async throws
        -> [ClaimedDelivery]
    {
        try await claim([id: DeliveryQuota(count: room, publisher: "main", mark: RelayStore.mark)], lease: lease)
    }

    func claim(_ rooms: [EndpointID: Int], lease: Duration, mark: BodyMark) async throws -> [ClaimedDelivery] {
        try await claim(
            rooms.mapValues { DeliveryQuota(count: $0, publisher: "main", mark: mark) }, lease: lease)
    }
}

extension NewDelivery {
    static func state(_ endpoint: EndpointID, _ sequence: Int64, replaces: Bool = true) -> NewDelivery {
        state(endpoint, "ana", sequence, replaces: replaces)
    }

    static func state(_ endpoint: EndpointID, _ lane: String, _ sequence: Int64, replaces: Bool = true)
        -> NewDelivery
    {
        NewDelivery(
            endpoint: endpoint, publisher: "main", lane: Username(lane), sequence: sequence,
            body: #"{"type":"purchases.updated","n":\#(sequence)}"#, replaces: replaces,
            at: DatabaseClock().nowOrHostTime)
    }
}

extension TestDatabase {
    /// Queues deliveries in a transaction, like the code that composes messages.
    nonisolated func enqueue(_ deliveries: NewDelivery...) async throws {
        _ = try await hand.withTransaction { try await $0.pipeline(DeliveryStatements.enqueue(deliveries)) }
    }

    nonisolated func endLeases() async throws {
        try await run("UPDATE webhook_queue SET due_at = now() - interval '1 second'")
    }
}
