import Postgres
public import RelayCore

/// A message that this process delivers, for as long as its lease holds.
public struct ClaimedDelivery: ClaimedItem {
    public let row: ClaimedRow
    public var id: DeliveryID
    public var endpoint: EndpointID
    public var lane: Username
    public var fence: Int32
    /// This one included.
    public var tries: Int
    /// A newer state came while a worker was sending it and never reported the result: it is not sent again.
    public var isOvertaken: Bool
    /// Mark of its first try.
    public var mark: BodyMark
    /// Nil where it is no longer kept.
    public var body: Private<String>?
    /// See ``StoredTrace``.
    public var trace: String?
}

/// Result of a try, as it is written.
public struct DeliveryRecord: Sendable {
    public var claimed: ClaimedDelivery
    public var outcome: DeliveryOutcome
    public var status: Int?
    public var error: String?

    public init(_ claimed: ClaimedDelivery, _ outcome: DeliveryOutcome, status: Int? = nil, error: String? = nil) {
        self.claimed = claimed
        self.outcome = outcome
        self.status = status
        self.error = error
    }
}

/// How the write of a try's outcome went.
public enum DeliveryRecordOutcome: Sendable, Equatable {
    /// The message's state now.
    case written(DeliveryState)
    /// Somebody else has it by now: nothing was written.
    case leaseLost
}

/// Writes results of tries: many with one statement and one commit.
public final class DeliveryRecorder: Sendable {
    private let batcher: PostgresBatcher<DeliveryRecord, DeliveryRecordOutcome>

    public init(store: RelayStore) {
        let sizes = BatchSizes("deliveries")
        batcher = PostgresBatcher(maxCount: 256, maxWaiting: 8_192) { records in
            sizes.record(records.count)
            return try await store.webhooks.record(records).map { .success($0) }
        }
    }

    public func record(_ record: DeliveryRecord) async throws -> DeliveryRecordOutcome {
        try await batcher.submit(record)
    }

    public func drain() async { await batcher.drain() }
}

/// How many messages of one endpoint may be claimed.
public struct DeliveryQuota: Sendable {
    public var count: Int
    /// The endpoint's publisher.
    public var publisher: PublisherID
    /// Mark of the password that is sent to it.
    public var mark: BodyMark

    public init(count: Int, publisher: PublisherID, mark: BodyMark) {
        self.count = count
        self.publisher = publisher
        self.mark = mark
    }
}

/// How far a message has come. The numbers are stored.
public enum DeliveryState: Int16, Sendable, CaseIterable {
    case waiting = 0
    case delivered = 1
    /// All its tries failed, or the endpoint wants no more.
    case failed = 2
    /// A newer state of the same customer took its place.
    case replaced = 3
    /// Its endpoint was disabled or removed before it was delivered.
    case dropped = 4
    /// It cannot be processed and waits for an operator. Never stored so: the queue says it.
    case parked = 5

    public var name: String { "\(self)" }
}
