public import RelayCore

/// An event of Cleeng's that this process acts on, for as long as its lease holds.
public struct ClaimedEvent: ClaimedItem {
    public let row: ClaimedRow
    public var id: NotificationID
    public var receivedAt: Timestamp
    public var attempts: Int
    /// By the database's clock, when it was claimed.
    public var now: Timestamp
    public var body: Private<[UInt8]>
    /// The publisher whose own account at Cleeng said it; nil: the one that publishers share.
    public var account: PublisherID?
}

/// Whose purchase an event is about.
public struct EventSubject: Sendable {
    public var customer: CustomerID?
    public var cleengCustomer: Int64?
    public var offerID: OfferID
    /// Of whom its account at Cleeng may speak.
    public var scope: PublisherScope

    public init(
        customer: CustomerID?, cleengCustomer: Int64?, offerID: OfferID, scope: PublisherScope = .common
    ) {
        self.scope = scope
        self.customer = customer
        self.cleengCustomer = cleengCustomer
        self.offerID = offerID
    }
}
