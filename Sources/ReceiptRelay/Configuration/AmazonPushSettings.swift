import AmazonAppStore
import Foundation
import Logging
import Operations
import RelayFront
import StoreSignals
import Webhooks

/// The accepted messages of Amazon SNS, and how subscriptions to its topics are confirmed.
struct AmazonPushSettings: Sendable {
    /// Empty: the route does not exist.
    var topics: Set<SNSTopic>
    var hosts: [SNSHostPattern]
    /// File of a certificate; nil: certificates are fetched.
    var certificateFile: String?
    var confirm: AmazonConfirm
    /// Nil: SNS is called in the region of each topic.
    var url: String?

    private static let most = 100

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        let topics = try reader.list(.amazonSNSTopics).map { SNSTopic($0) }
        guard topics.count <= Self.most, topics.allSatisfy({ $0 != nil }) else {
            throw SettingError.malformed(
                .amazonSNSTopics, wants: "\(SNSTopic.rule); several, comma-separated, \(Self.most) at most")
        }
        self.topics = Set(topics.compactMap(\.self))
        let hosts = try reader.list(.amazonSNSCertHosts).map { SNSHostPattern($0) }
        guard !hosts.isEmpty, hosts.count <= Self.most, hosts.allSatisfy({ $0 != nil }) else {
            throw SettingError.malformed(
                .amazonSNSCertHosts,
                wants: "host names in lower case, comma-separated; * stands for one region, as a whole label")
        }
        self.hosts = hosts.compactMap(\.self)
        certificateFile = try reader.text(.amazonSNSCertFile)
        confirm = try reader.choice(.amazonSNSConfirm)
        url = try reader.url(.amazonSNSURL)
    }

    func confirmer(_ client: GuardedClient) -> TopicConfirmer {
        let sns = SNSClient(client: client, url: url)
        return TopicConfirmer(topics: topics) { await sns.confirm($0) }
    }

    /// Nil: the route does not exist.
    ///
    /// - Throws: ``SettingError``.
    func source(_ client: GuardedClient, _ logger: Logger) throws -> AmazonNotifications? {
        guard !topics.isEmpty else { return nil }
        let fixed = try certificateFile.map { path in
            guard let pem = try? String(contentsOfFile: path, encoding: .utf8),
                let certificate = try? SNSCertificate(pem: pem)
            else { throw SettingError.malformed(.amazonSNSCertFile, wants: "a readable certificate in PEM") }
            return certificate
        }
        let sns = SNSClient(client: client, url: url)
        return AmazonNotifications(
            topics: topics, hosts: hosts,
            certificates: SNSCertificates(fixed: fixed, logger: logger) { try await sns.certificate(at: $0) },
            confirmer: confirmer(client), confirmsAll: confirm == .auto)
    }
}

/// How a subscription to a topic is confirmed.
enum AmazonConfirm: String, CaseIterable, Sendable {
    /// An operator confirms the subscription.
    case manual
    case auto
}
