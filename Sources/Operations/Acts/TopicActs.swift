public import RelayCore
public import RelayStore
public import StoreSignals

/// Confirms subscriptions to topics.
public struct TopicConfirmer: Sendable {
    let topics: Set<SNSTopic>
    let confirm: @Sendable (SNSMessage) async -> TopicConfirmation

    /// - Parameters:
    ///   - topics: whose messages are taken.
    ///   - confirm: asks SNS; must end in seconds.
    public init(topics: Set<SNSTopic>, confirm: @escaping @Sendable (SNSMessage) async -> TopicConfirmation) {
        self.topics = topics
        self.confirm = confirm
    }
}

extension LongAct<TopicConfirmation> {
    /// Confirms the subscription that a message of SNS asks to confirm, or that it says has ended. From then on the topic's messages come.
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
    /// For the audit log.
    fileprivate var words: String {
        switch self {
        case .confirmed: "confirmed"
        case .refused(let why): "SNS refuses it: \(why)"
        case .away(let why): "SNS cannot be asked: \(why)"
        }
    }
}
