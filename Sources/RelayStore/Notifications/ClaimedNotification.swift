public import RelayCore

/// Ids of notifications are made as those of validations are: where the row is stands in them.
public typealias NotificationID = ValidationID

/// A notification that this process passes on, for as long as its lease holds.
public struct ClaimedNotification: ClaimedItem {
    public let row: ClaimedRow
    public var id: NotificationID
    public var fence: Int32
    /// This one included.
    public var attempts: Int
    /// The subscription; of what is about none the notification itself.
    public var lane: TransactionID
    /// Nil where it is no longer kept.
    public var body: Private<[UInt8]>?
    /// That of whoever brought it; see ``StoredTrace``.
    public var trace: String?
}

/// What became of a try to pass one on.
public enum RelayOutcome: Sendable, Equatable {
    case delivered
    /// - Parameter standsAside: it is refused for what is in it, and does not hold up those after it.
    case failed(String, next: Duration, standsAside: Bool)
    /// There is nothing left to send.
    case gone
}
