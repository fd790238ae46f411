import Formats
import RelayCore
import Webhooks

/// Settings of publishers' webhooks.
struct WebhookSettings: Sendable {
    /// Endpoints of the first publisher from the configuration.
    var urls: [String]
    var credentials: PerPublisher<WebhookCredentials>
    var retries: WebhookRetries
    var timeout: Duration
    var allowed: [AddressRange]
    private var requiresTLS: Bool
    private var isUnsigned: Bool

    private static let mostURLs = 100
    private static let mostRetries = 50
    private static let longestPause = 2_592_000.0
    private static let mostSecrets = 10

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        urls = try Self.urls(reader)
        requiresTLS = try reader.requiresTLS()
        guard !requiresTLS || urls.allSatisfy({ WebhookURL($0)?.isSecure == true }) else {
            throw SettingError.malformed(.webhookURLs, wants: "https URLs, since \(Setting.requireTLS.name) is true")
        }
        let known = try reader.each { (password: try Self.password($0), secrets: try Self.secrets($0)) }
        credentials = known.map { WebhookCredentials(password: $0.password, secrets: $0.secrets) }
        let first = known.own[PublisherID.first] ?? known.common
        isUnsigned = first.password == nil && first.secrets.isEmpty
        retries = try Self.retries(reader)
        timeout = try reader.duration(.webhookTimeout)
        allowed = try reader.list(.webhookAllowNetworks).map { part in
            guard let range = AddressRange(part) else {
                throw SettingError.malformed(
                    .webhookAllowNetworks,
                    wants: "addresses and ranges such as 10.0.0.0/8, comma-separated")
            }
            return range
        }
    }

    var client: WebhookClient { WebhookClient(timeout: timeout, policy: policy) }

    /// The addresses that the relay may call for URLs from outside.
    var policy: AddressPolicy { AddressPolicy(allowing: allowed, requiresTLS: requiresTLS) }

    /// Settings that may be unintended and are logged at the start.
    var warnings: [String] {
        var warnings: [String] = []
        if isUnsigned, !urls.isEmpty {
            warnings.append(
                "webhooks are neither signed nor carry a password: set \(Setting.webhookSecrets.name), so that receivers can tell ours from others"
            )
        }
        if urls.contains(where: { WebhookURL($0)?.isSecure == false }) {
            warnings.append(
                "\(Setting.webhookURLs.name) names an http address: what is sent there can be read on the way")
        }
        return warnings
    }

    private static func urls(_ reader: SettingReader) throws -> [String] {
        let urls = try reader.list(.webhookURLs)
        guard urls.count <= mostURLs, urls.allSatisfy({ WebhookURL($0) != nil }) else {
            throw SettingError.malformed(
                .webhookURLs, wants: "\(WebhookURL.rule); several, comma-separated, \(mostURLs) at most")
        }
        var seen: Set<String> = []
        return urls.filter { seen.insert($0).inserted }
    }

    private static func password(_ reader: SettingReader) throws -> String? {
        guard let password = try reader.text(.webhookPassword) else { return nil }
        guard password.utf8.count <= 1_024, !password.hasControlCharacters else {
            throw SettingError.malformed(.webhookPassword, wants: "one line of at most 1,024 bytes")
        }
        return password
    }

    private static func secrets(_ reader: SettingReader) throws -> [SigningSecret] {
        let secrets = try reader.list(.webhookSecrets).map { SigningSecret($0) }
        guard secrets.count <= mostSecrets, secrets.allSatisfy({ $0 != nil }) else {
            throw SettingError.malformed(
                .webhookSecrets,
                wants: "whsec_ and base64 of at least 16 bytes; several, comma-separated, \(mostSecrets) at most")
        }
        return secrets.compactMap { $0 }
    }

    private static func retries(_ reader: SettingReader) throws -> WebhookRetries {
        let pauses = try reader.list(.webhookRetries).map { Double($0) }
        guard pauses.count <= mostRetries, pauses.allSatisfy({ $0.map { (0...longestPause).contains($0) } ?? false })
        else {
            throw SettingError.malformed(
                .webhookRetries,
                wants: "numbers of seconds from 0 to 2592000, comma-separated, \(mostRetries) at most")
        }
        return WebhookRetries(pauses: pauses.compactMap { $0 }.map { .seconds(rounded: $0) })
    }
}
