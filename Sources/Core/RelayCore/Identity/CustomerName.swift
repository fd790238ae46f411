/// A customer by the publisher's own name for them. Names are compared exactly.
public struct CustomerName: Sendable, Hashable {
    public var publisher: PublisherID
    public var username: Username

    public init(publisher: PublisherID, username: Username) {
        self.publisher = publisher
        self.username = username
    }

    public var bucket: Bucket { Bucket(of: publisher, username) }
}

/// A customer of one publisher, by email.
public struct CustomerKey: Hashable, Sendable {
    public var publisher: PublisherID
    /// Trimmed and lower-cased.
    public var customer: CustomerID

    public init(publisher: PublisherID, customer: CustomerID) {
        self.publisher = publisher
        self.customer = customer
    }
}
