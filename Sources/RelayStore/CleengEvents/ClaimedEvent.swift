public import RelayCore

/// An event of Cleeng's that this process acts on, for as long as its lease holds.
public struct ClaimedEvent: Sendable {
    public var id: NotificationID
    public var receivedAt: Timestamp
    public var attempts: Int
    /// By the database's clock, when it was claimed.
    public var now: Timestamp
    public var body: [UInt8]
}

/// Whose purchase an event is about.
public struct EventSubject: Sendable {
    public var customer: String?
    public var cleengCustomer: Int64?
    public var offerID: String

    public init(customer: String?, cleengCustomer: Int64?, offerID: String) {
        self.customer = customer
        self.cleengCustomer = cleengCustomer
        self.offerID = offerID
    }
}
