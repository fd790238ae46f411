/// One customer of one publisher.
public struct CustomerKey: Hashable, Sendable {
    public var publisher: String
    /// Trimmed and lower-cased.
    public var customer: String

    public init(publisher: String, customer: String) {
        self.publisher = publisher
        self.customer = customer
    }
}
