/// What is still to be delivered to webhook endpoints.
public struct WebhookBacklog: Sendable, Equatable {
    public var waiting: Int
    /// Of those, what has been tried already.
    public var retrying: Int
    /// For how long the oldest has waited; nil where there is none.
    public var oldest: Duration?
    public var endpoints: Int
    /// Of those, how many are disabled.
    public var disabled: Int
    /// Of those that are not, how many took nothing when they were last tried.
    public var failing: Int
}
