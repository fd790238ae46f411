public import RelayCore

/// How many messages of one endpoint may be taken up.
public struct DeliveryRoom: Sendable {
    public var count: Int
    /// Whose endpoint it is.
    public var publisher: PublisherID
    /// Of the password that is sent to it.
    public var mark: BodyMark

    public init(count: Int, publisher: PublisherID, mark: BodyMark) {
        self.count = count
        self.publisher = publisher
        self.mark = mark
    }
}
