public import RelayCore

/// A customer as the publisher calls them. Names are compared exactly.
public struct CustomerName: Sendable, Hashable {
    public var publisher: String
    public var username: String

    public init(publisher: String, username: String) {
        self.publisher = publisher
        self.username = username
    }

    public var bucket: Bucket { Bucket(of: publisher, username) }
}
