public import RelayCore

/// A genuine notification on its way into the archive.
public struct ReceivedNotification: Sendable {
    public var notification: StoreNotification
    /// As it came.
    public var body: [UInt8]
    /// Whether it is passed on to Cleeng.
    public var isRelayed: PerPublisher<Bool>

    public init(_ notification: StoreNotification, body: [UInt8], isRelayed: PerPublisher<Bool>) {
        self.notification = notification
        self.body = body
        self.isRelayed = isRelayed
    }
}

/// What became of it. Both are after the commit.
public enum ReceiveOutcome: Sendable, Equatable {
    case stored
    case repeated
}
