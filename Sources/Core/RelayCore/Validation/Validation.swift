/// A validation as read from the database: the content of a poll's answer.
public struct Validation: Sendable, Equatable {
    public var id: ValidationID
    public var publisher: PublisherID
    public var app: BundleID
    public var email: EmailAddress
    public var customer: CustomerID
    public var offerID: OfferID
    public var status: ValidationStatus
    public var reason: String?
    public var late: Bool
    public var acceptedAt: Timestamp
    public var deadline: Timestamp
    public var settledAt: Timestamp?
    public var expiresAt: Timestamp?

    public init(
        id: ValidationID, publisher: PublisherID, app: BundleID, email: EmailAddress, customer: CustomerID,
        offerID: OfferID,
        status: ValidationStatus, reason: String? = nil, late: Bool = false, acceptedAt: Timestamp, deadline: Timestamp,
        settledAt: Timestamp? = nil, expiresAt: Timestamp? = nil
    ) {
        self.id = id
        self.publisher = publisher
        self.app = app
        self.email = email
        self.customer = customer
        self.offerID = offerID
        self.status = status
        self.reason = reason
        self.late = late
        self.acceptedAt = acceptedAt
        self.deadline = deadline
        self.settledAt = settledAt
        self.expiresAt = expiresAt
    }

    /// The validation at `now` on the database's clock. From the deadline on it is never pending, even if no worker has
    /// written that yet.
    public func judged(at now: Timestamp) -> Validation {
        guard status == .pending, now >= deadline else { return self }
        var judged = self
        judged.status = .timedOut
        judged.settledAt = deadline
        return judged
    }
}
