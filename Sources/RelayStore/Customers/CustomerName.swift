public import RelayCore

/// A customer as the publisher calls them. Names are compared exactly.
public struct CustomerName: Sendable, Hashable {
    public var publisher: PublisherID
    public var username: Username

    public init(publisher: PublisherID, username: Username) {
        self.publisher = publisher
        self.username = username
    }

    public var bucket: Bucket { Bucket(of: publisher, username) }
}
