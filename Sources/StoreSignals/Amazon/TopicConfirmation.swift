/// Result of the request to confirm a subscription to a topic.
public enum TopicConfirmation: Sendable, Equatable {
    case confirmed
    /// The token is too old, or was never that topic's.
    case refused(String)
    /// SNS could not be asked.
    case away(String)
}
