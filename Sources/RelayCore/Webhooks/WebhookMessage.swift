/// What goes on the wire under one id. Standard Webhooks: the signature is over the id, the second of the try and the body.
public struct WebhookMessage: Sendable, Equatable {
    /// `webhook-id`: the same over all tries, and never of another body.
    public var id: String
    public var body: [UInt8]

    public init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }

    /// - Parameter secondsSince1970: as in `webhook-timestamp`.
    public func signedContent(secondsSince1970: Int64) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(id.utf8.count + 24 + body.count)
        content += id.utf8
        content += ".\(secondsSince1970).".utf8
        content += body
        return content
    }
}
