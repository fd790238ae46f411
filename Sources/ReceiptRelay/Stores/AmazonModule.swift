import AmazonAppStore
import Foundation
import Logging
import Relay
import RelayCore
import StoreSignals
import Webhooks

extension StoreModule {
    static let amazon = StoreModule(
        platform: .amazon,
        settings: [
            .amazonSharedSecret, .amazonRVSURL, .amazonSNSTopics, .amazonSNSCertHosts, .amazonSNSCertFile,
            .amazonSNSConfirm, .amazonSNSURL,
        ], addresses: [.amazonRVSURL], credential: .amazonSharedSecret, access: AmazonAccess.self,
        process: AmazonSettings.self)
}

extension Setting.Group {
    static let amazon = Self(
        "amazon", "The Amazon Appstore",
        lead:
            "Questions about receipts ([stores.md](stores.md#amazon-appstore)). Without a secret the relay asks nothing.",
        isSection: true)
}

extension Setting {
    static let amazonSharedSecret = Setting(
        "RELAY_AMAZON_SHARED_SECRET", .form("1 to 512 visible ASCII characters"), isSecret: true, isPublishersOwn: true,
        group: .amazon, readers: .service, example: "…",
        "the developer's shared secret. It is a part of the path that is asked, so a proxy in between must not log paths"
    )
    static let amazonRVSURL = Setting(
        "RELAY_AMAZON_RVS_URL", .url, standard: "https://appstore-sdk.amazon.com", group: .amazon, readers: .service,
        "URL of the Receipt Verification Service; `https://appstore-sdk.amazon.com/sandbox` for receipts of the App Tester"
    )

    static let amazonSNSTopics = Setting(
        "RELAY_AMAZON_SNS_TOPICS", .form("ARNs of SNS topics, comma-separated"), group: .amazon,
        readers: [.front, .commands], example: "arn:aws:sns:us-east-1:123456789012:appstore",
        "opens `POST /amazon/notifications`: the topics whose messages are taken")
    static let amazonSNSCertHosts = Setting(
        "RELAY_AMAZON_SNS_CERT_HOSTS", .form("host names, comma-separated"), standard: "sns.*.amazonaws.com",
        group: .amazon, readers: .front,
        "the hosts from which the certificates of messages are fetched, by https; `*` is the region of the topic")
    static let amazonSNSCertFile = Setting(
        "RELAY_AMAZON_SNS_CERT_FILE", .path, group: .amazon, readers: .front, example: "/etc/receipt-relay/sns.pem",
        "a certificate (PEM) by which every message is verified; then none is fetched")
    static let amazonSNSConfirm = Setting(
        "RELAY_AMAZON_SNS_CONFIRM", .choice(["manual", "auto"]), standard: "manual", group: .amazon, readers: .front,
        "who confirms a subscription to one of the topics: an operator (`receipt-relay notifications confirm ID --reason R`, or the console), or the relay by itself"
    )
    static let amazonSNSURL = Setting(
        "RELAY_AMAZON_SNS_URL", .url, group: .amazon, readers: [.front, .commands],
        example: "https://sns.us-east-1.amazonaws.com/",
        "URL at which SNS confirms a subscription; without it the host of the topic's region")
}

/// Access to the Amazon Appstore, if a shared secret is set.
struct AmazonAccess: StoreAccess {
    var secret: AmazonSecret
    /// Base address; it ends in `/sandbox` for receipts of the App Tester.
    var url: String

    /// Nil without a shared secret.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> Self? {
        let url = try reader.base(.amazonRVSURL)
        guard let text = try reader.text(.amazonSharedSecret) else { return nil }
        guard let secret = AmazonSecret(text) else {
            throw SettingError.malformed(.amazonSharedSecret, wants: "1 to 512 visible ASCII characters without spaces")
        }
        return AmazonAccess(secret: secret, url: url)
    }

    func store(_ tools: StoreTools) -> any ExternalStore {
        AmazonStore(
            client: AmazonReceiptClient(
                url: url, secret: secret, timeout: tools.timeout, httpClient: tools.httpClient, logger: tools.logger),
            now: tools.now)
    }
}

/// The accepted messages of Amazon SNS, and how subscriptions to its topics are confirmed.
struct AmazonSettings: StoreSettings {
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

    var wantsAccess: Bool { !topics.isEmpty }

    func confirmer(_ client: GuardedClient) -> TopicConfirmer {
        let sns = SNSClient(client: client, url: url)
        return TopicConfirmer(topics: topics) { await sns.confirm($0) }
    }

    func notifications(_ tools: NotificationTools) throws -> (any NotificationSource)? {
        guard !topics.isEmpty else { return nil }
        let fixed = try certificateFile.map { path in
            guard let pem = try? String(contentsOfFile: path, encoding: .utf8),
                let certificate = try? SNSCertificate(pem: pem)
            else { throw SettingError.malformed(.amazonSNSCertFile, wants: "a readable certificate in PEM") }
            return certificate
        }
        let sns = SNSClient(client: tools.client, url: url)
        return AmazonNotifications(
            topics: topics, hosts: hosts,
            certificates: SNSCertificates(fixed: fixed, logger: tools.logger) { try await sns.certificate(at: $0) },
            confirmer: confirmer(tools.client), confirmsAll: confirm == .auto)
    }
}

/// How a subscription to a topic is confirmed.
enum AmazonConfirm: String, CaseIterable, Sendable {
    /// An operator confirms the subscription.
    case manual
    case auto
}

extension ServeSettings {
    /// Confirms subscriptions to the topics of Amazon's notifications.
    func topicConfirmer(_ client: GuardedClient) -> TopicConfirmer {
        (stores[.amazon] as? AmazonSettings)?.confirmer(client)
            ?? TopicConfirmer(topics: []) { _ in .refused("no topic is set") }
    }
}
