public import RelayCore

/// How many messages of one endpoint may be taken up.
public struct DeliveryRoom: Sendable {
    public var count: Int
    /// Of the password that is sent to it.
    public var mark: BodyMark

    public init(count: Int, mark: BodyMark) {
        self.count = count
        self.mark = mark
    }
}
