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
    /// A newer state came while somebody sent it who never said what became of it: it is not to be sent again.
    public var isOvertaken: Bool
    /// That of its first try.
    public var mark: BodyMark
    /// Nil where it is no longer kept.
    public var body: Private<String>?
    /// See ``StoredTrace``.
    public var trace: String?
}

/// What became of a try, as it is written.
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
