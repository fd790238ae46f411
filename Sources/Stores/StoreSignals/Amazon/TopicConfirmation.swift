/// Result of the request to confirm a subscription to a topic.
public enum TopicConfirmation: Sendable, Equatable {
    case confirmed
    /// The token has expired, or belongs to another topic.
    case refused(String)
    /// SNS could not be reached.
    case away(String)
}
