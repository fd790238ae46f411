/// A message's statement about this endpoint's subscription to the topic that delivered it.
public struct TopicStatement: Sendable, Hashable {
    /// Raw values are stored.
    public enum State: Int16, Sendable, CaseIterable {
        /// The topic delivers nothing before the subscription is confirmed.
        case unconfirmed = 1
        case confirmed = 2
        /// The subscription was ended: the topic delivers nothing more.
        case ended = 3

        public var name: String {
            switch self {
            case .unconfirmed: "unconfirmed"
            case .confirmed: "confirmed"
            case .ended: "ended"
            }
        }
    }

    /// The sender's name of the topic.
    public var topic: String
    public var state: State
    public var saidAt: Timestamp

    public init(topic: String, state: State, saidAt: Timestamp) {
        self.topic = topic
        self.state = state
        self.saidAt = saidAt
    }
}
