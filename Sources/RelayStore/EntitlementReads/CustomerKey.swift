public import RelayCore

/// One customer of one publisher.
public struct CustomerKey: Hashable, Sendable {
    public var publisher: PublisherID
    /// Trimmed and lower-cased.
    public var customer: CustomerID

    public init(publisher: PublisherID, customer: CustomerID) {
        self.publisher = publisher
        self.customer = customer
    }
}
