/// What a message says of this endpoint's subscription to the topic that it came by.
public struct TopicNews: Sendable, Hashable {
    /// The numbers are stored.
    public enum State: Int16, Sendable, CaseIterable {
        /// Nothing comes before somebody confirms it.
        case unconfirmed = 1
        case confirmed = 2
        /// Somebody ended it: nothing comes any more.
        case ended = 3

        public var name: String {
            switch self {
            case .unconfirmed: "unconfirmed"
            case .confirmed: "confirmed"
            case .ended: "ended"
            }
        }
    }

    /// As its sender names it.
    public var topic: String
    public var state: State
    public var saidAt: Timestamp

    public init(topic: String, state: State, saidAt: Timestamp) {
        self.topic = topic
        self.state = state
        self.saidAt = saidAt
    }
}
