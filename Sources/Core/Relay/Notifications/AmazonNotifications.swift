import HTTPServer
public import Logging
public import RelayCore
public import StoreSignals

/// The Amazon Appstore's real-time notifications, which SNS posts. A message must be of a topic to which the relay
/// subscribed, and signed by SNS. Source: Amazon SNS Developer Guide, "Verifying the signatures of Amazon SNS messages".
public struct AmazonNotifications: NotificationSource {
    public let store = StorePlatform.amazon
    private let topics: Set<SNSTopic>
    private let hosts: [SNSHostPattern]
    private let certificates: SNSCertificates
    private let confirmer: TopicConfirmer
    /// Whether subscriptions are confirmed without an operator.
    private let confirmsAll: Bool

    /// - Parameters:
    ///   - topics: accepted topics.
    ///   - hosts: hosts that may supply certificates.
    public init(
        topics: Set<SNSTopic>, hosts: [SNSHostPattern], certificates: SNSCertificates, confirmer: TopicConfirmer,
        confirmsAll: Bool
    ) {
        self.topics = topics
        self.hosts = hosts
        self.certificates = certificates
        self.confirmer = confirmer
        self.confirmsAll = confirmsAll
    }

    /// Makes the cheapest checks first. Nothing is fetched for a message of an unknown topic.
    ///
    /// - Throws: ``NotificationRefusal``; a ``Problem`` while the certificate is unavailable.
    private func verify(_ message: SNSMessage, now: Timestamp) async throws {
        try NotificationRefusal.unless(
            topics.contains(message.topic), "topic", "its topic \(message.topic) is none of RELAY_AMAZON_SNS_TOPICS")
        try NotificationRefusal.unless(
            message.signatureVersion != nil, "algorithm", "its SignatureVersion is neither 1 nor 2")
        guard let address = SNSCertificateAddress(message.certificateURL, of: message.topic, hosts: hosts) else {
            throw NotificationRefusal(
                code: "certificate", detail: "its certificate is at none of RELAY_AMAZON_SNS_CERT_HOSTS")
        }
        let certificate: SNSCertificate
        do {
            certificate = try await certificates.certificate(at: address)
        } catch {
            throw Problem(.storeUnavailable, "\(error)")
        }
        try NotificationRefusal.unless(certificate.isValid(at: now), "expired", "its certificate is not valid now")
        try NotificationRefusal.unless(
            certificate.verifies(message), "signature", "it is not signed by the key of its certificate")
    }

    public func read(_ body: [UInt8], now: Timestamp) async throws -> StoreNotification {
        let message = try SNSMessage(body: body)
        try await verify(message, now: now)
        return AmazonNotification.read(message)
    }

    public func wasTaken(_ notification: StoreNotification, _ operations: Operations, _ logger: Logger) async throws {
        guard let news = notification.topic, news.state != .confirmed else { return }
        let known = try await operations.store.notifications.topics(in: .all).first { $0.topic == news.topic }
        guard let known, known.state != .confirmed, let id = known.notification else { return }
        guard confirmsAll, known.state == .unconfirmed else {
            return logger.warning(
                known.state == .ended
                    ? "a subscription to a topic has ended: nothing comes by it any more"
                    : "a subscription to a topic is to be confirmed: receipt-relay notifications confirm ID --reason R",
                metadata: ["topic": "\(news.topic)", "notification": "\(id)"])
        }
        let answer = try await operations.perform(
            .confirm(notification: id, confirmer), by: Actor(name: AuditEntry.relay, scope: .all),
            reason: "RELAY_AMAZON_SNS_CONFIRM is auto")
        switch answer {
        case .confirmed: break
        case .refused(let why):
            logger.warning("a subscription to a topic cannot be confirmed", metadata: ["error": "\(why)"])
        // SNS sends the message again.
        case .away(let why): throw Problem(.storeUnavailable, "Amazon SNS: \(why)")
        }
    }
}
