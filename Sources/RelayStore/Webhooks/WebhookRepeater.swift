public import RelayCore

/// Tells an endpoint the present state of a customer once more, as a new message with the reason `WEBHOOK_REPEATED`.
public protocol WebhookRepeater: Sendable {
    /// - Parameters:
    ///   - username: the publisher's own name for the customer.
    ///   - endpoint: nil for all of the publisher's that take messages.
    /// - Returns: the new message, of several one; nil where nobody is there to be told.
    func repeatCustomer(publisher: PublisherID, username: Username, endpoint: EndpointID?) async throws -> DeliveryID?
}
