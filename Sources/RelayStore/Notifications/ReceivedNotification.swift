public import RelayCore

/// A genuine notification on its way into the archive.
public struct ReceivedNotification: Sendable {
    public var notification: StoreNotification
    /// As it came.
    public var body: [UInt8]
    private let isRelayed: PerPublisher<Bool>

    public init(_ notification: StoreNotification, body: [UInt8], isRelayed: PerPublisher<Bool>) {
        self.notification = notification
        self.body = body
        self.isRelayed = isRelayed
    }

    /// Whether it is passed on to Cleeng.
    func isRelayed(for publisher: PublisherID) -> Bool { isRelayed.isRelayed(for: publisher) }
}

extension PerPublisher<Bool> {
    /// Whether a publisher's notifications are passed on. Where this copy does not have its account, that is left to those that do.
    public func isRelayed(for publisher: PublisherID) -> Bool { self[publisher] ?? true }
}

/// What became of it. Both are after the commit.
public enum ReceiveOutcome: Sendable, Equatable {
    case stored
    case repeated
}
