/// What Cleeng has not taken of the App Store's notifications.
public struct NotificationBacklog: Sendable, Equatable {
    public var waiting: Int
    /// Of those, what Cleeng refuses for what is in it.
    public var refused: Int
    /// For how long the oldest has waited; nil where there is none.
    public var oldest: Duration?
}
