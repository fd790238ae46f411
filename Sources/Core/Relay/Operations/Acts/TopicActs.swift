public import RelayCore
public import StoreSignals

/// Confirms subscriptions to SNS topics.
public struct TopicConfirmer: Sendable {
    let topics: Set<SNSTopic>
    let confirm: @Sendable (SNSMessage) async -> TopicConfirmation

    /// - Parameters:
    ///   - topics: topics whose messages the relay accepts.
    ///   - confirm: calls SNS; must end within seconds.
    public init(topics: Set<SNSTopic>, confirm: @escaping @Sendable (SNSMessage) async -> TopicConfirmation) {
        self.topics = topics
        self.confirm = confirm
    }
}

extension LongAct<TopicConfirmation> {
    /// Confirms the subscription to a topic if an SNS message asks for it or reports its end. The topic's messages
    /// arrive from then on.
    public static func confirm(notification id: NotificationID, _ confirmer: TopicConfirmer) -> Self {
        LongAct(.topicConfirmed) { work in
            guard let (item, body) = try await work.store.ops.notification(id, in: work.actor.scope) else {
                throw ActRefusal.unknown(.notification)
            }
            guard item.store == StorePlatform.amazon.rawValue, let message = try? SNSMessage(body: body.value),
                message.kind != .notification
            else { throw ActRefusal.nothingToConfirm }
            guard confirmer.topics.contains(message.topic) else {
                throw ActRefusal.notGenuine(
                    code: "topic", detail: "\(message.topic) is none of RELAY_AMAZON_SNS_TOPICS")
            }
            return try await work.recorded("\(id)", of: item.publisher) {
                let answer = await confirmer.confirm(message)
                if answer == .confirmed { try await work.store.notifications.confirmed(message.topic.description) }
                return (answer, answer.words)
            }
        }
    }
}

extension TopicConfirmation {
    /// The outcome's text in the audit log.
    fileprivate var words: String {
        switch self {
        case .confirmed: "confirmed"
        case .refused(let why): "SNS refuses it: \(why)"
        case .away(let why): "SNS cannot be asked: \(why)"
        }
    }
}
