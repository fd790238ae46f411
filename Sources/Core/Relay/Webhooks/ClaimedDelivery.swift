import Postgres
public import RelayCore

/// A message that this process delivers while its lease lasts.
public struct ClaimedDelivery: ClaimedItem {
    public let row: ClaimedRow
    public var id: DeliveryID
    public var endpoint: EndpointID
    public var lane: Username
    public var fence: Int32
    /// Includes this try.
    public var tries: Int
    /// A newer state arrived while an earlier worker sent this message without a known result. It is not sent again.
    public var isOvertaken: Bool
    /// Mark of the message's first try.
    public var mark: BodyMark
    /// Nil if it is no longer stored.
    public var body: Private<String>?
    /// See ``StoredTrace``.
    public var trace: String?
}

/// Result of a try, to be written.
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

/// Outcome of writing a try's result.
public enum DeliveryRecordOutcome: Sendable, Equatable {
    /// The message's state now.
    case written(DeliveryState)
    /// Another worker has claimed it: nothing was written.
    case leaseLost
}

/// Writes results of tries, many in one statement and one commit.
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

/// Limit of messages that may be claimed for one endpoint.
public struct DeliveryQuota: Sendable {
    public var count: Int
    /// The endpoint's publisher.
    public var publisher: PublisherID
    /// Mark of the password that the endpoint receives.
    public var mark: BodyMark

    public init(count: Int, publisher: PublisherID, mark: BodyMark) {
        self.count = count
        self.publisher = publisher
        self.mark = mark
    }
}

/// State of a message. The numbers are stored.
public enum DeliveryState: Int16, Sendable, CaseIterable {
    case waiting = 0
    case delivered = 1
    /// All its tries failed, or the endpoint accepts no more messages.
    case failed = 2
    /// Replaced by a newer state of the same customer.
    case replaced = 3
    /// Its endpoint was disabled or removed before it was delivered.
    case dropped = 4
    /// It cannot be processed and waits for an operator. Never stored here: the queue records it.
    case parked = 5

    public var name: String { "\(self)" }
}

extension ClaimedDelivery: LeasedItem {}
