import Cleeng
import Foundation
import RelayCore
import RelayFront
import RelayWorkers

/// Everything that `serve` is told, checked.
struct ServeSettings: Sendable {
    var databaseURL: String
    var databaseConnections: Int
    var preparesStatements: Bool
    var httpHost: String
    var httpPort: Int
    var opsHost: String
    var opsPort: Int
    var cleeng: CleengConfiguration
    var drivers: DriverPolicy
    var pollInterval: Duration
    var validationTimeout: Duration
    var reconcileFor: Duration
    var maxBodyBytes: Int
    var maxBodiesBytes: Int
    var trustedProxies: [AddressRange]
    var customerJWKS: CustomerJWKSSource?
    var apple: AppleSettings
    /// Nil: the App Store is not asked.
    var appStore: AppStoreSettings?
    /// Nil: Google Play is not asked.
    var google: GoogleSettings?
    /// Nil: the Amazon Appstore is not asked.
    var amazon: AmazonSettings?
    var notifications: NotificationSettings
    /// Nil: Cleeng's events are not taken.
    var eventSignature: EventSignature?
    var webhooks: WebhookSettings
    var retention: RetentionPolicy
    var logLevel: String

    enum CustomerJWKSSource: Sendable, Equatable {
        case url(String)
        case file(String)
    }

    /// - Throws: ``SettingError``, naming the first setting that cannot be used.
    init(_ reader: SettingReader) throws {
        databaseURL = try reader.databaseURL()
        databaseConnections = try reader.integer(.databaseConnections)
        preparesStatements = try reader.preparesStatements()
        httpHost = try reader.host(.httpHost)
        httpPort = try reader.port(.httpPort)
        opsHost = try reader.host(.opsHost)
        opsPort = try reader.port(.opsPort)
        pollInterval = try reader.duration(.pollInterval)
        validationTimeout = try reader.duration(.validationTimeout)
        reconcileFor = try reader.duration(.reconcileHours)
        maxBodyBytes = try reader.integer(.maxBodyBytes)
        maxBodiesBytes = try reader.integer(.maxBodiesBytes)
        retention = try reader.retention()
        logLevel = try reader.choice(.logLevel)
        trustedProxies = try Self.proxies(reader)
        customerJWKS = try Self.jwks(reader)
        apple = try AppleSettings(reader)
        appStore = try AppStoreSettings.read(reader, scope: apple.scope)
        google = try GoogleSettings.read(reader)
        amazon = try AmazonSettings.read(reader)
        drivers = try Self.drivers(reader)
        notifications = try NotificationSettings(reader)
        eventSignature = try Self.eventSignature(reader)
        webhooks = try WebhookSettings(reader)
        cleeng = try Self.cleeng(reader)
    }

    /// What may be meant, and is better said at the start.
    var warnings: [String] {
        var warnings = apple.warnings + notifications.warnings + webhooks.warnings
        guard drivers != .receipt else { return warnings }
        if apple.verification == .off {
            warnings.append(
                "Cleeng looks a StoreKit 2 transaction up by its number alone, and nobody looks at its signature (\(Setting.appleVerification.name) is off): whoever guesses a number can take that subscription"
            )
        }
        if !cleeng.paymentURL.contains("sandbox"), cleeng.storeKit2URL.contains("sandbox") {
            warnings.append(
                "purchases by StoreKit 2 go to the sandbox and others do not: set \(Setting.storeKit2URL.name)")
        }
        return warnings
    }

    private static func cleeng(_ reader: SettingReader) throws -> CleengConfiguration {
        let token = try reader.required(.publisherToken)
        guard token.utf8.count <= 512, !token.hasControlCharacters, !token.contains(" ") else {
            throw SettingError.malformed(Setting.publisherToken.name, wants: "one line without spaces")
        }
        guard let source = EntitlementSource(rawValue: try reader.choice(.entitlementSource)) else {
            throw SettingError.malformed(Setting.entitlementSource.name, wants: "entitlements or accessible-tags")
        }
        var tags: [String: [String]] = [:]
        if let path = try reader.text(.tagsFile) {
            guard let data = FileManager.default.contents(atPath: path) else {
                throw SettingError.unreadable("the file that \(Setting.tagsFile.name) names", why: "it is missing")
            }
            do {
                tags = try TagsFile.parse(String(decoding: data, as: UTF8.self))
            } catch {
                throw SettingError.unreadable("the file that \(Setting.tagsFile.name) names", why: "\(error)")
            }
        }
        do {
            return try CleengConfiguration(
                publisherToken: Secret(token), paymentURL: try reader.url(.paymentURL) ?? "",
                apiURL: try reader.url(.apiURL) ?? "", storeKit2URL: try reader.url(.storeKit2URL) ?? "",
                entitlementSource: source, tagsByOffer: tags,
                upstreamTimeout: try reader.duration(.upstreamTimeout),
                connectionsPerHost: try reader.integer(.maxConcurrentCalls))
        } catch let error as CleengConfigurationError {
            throw Self.settingError(error)
        }
    }

    private static func settingError(_ error: CleengConfigurationError) -> SettingError {
        let base = "http(s)://host[:port][/path], without user, query or fragment"
        return switch error {
        case .publisherToken: .malformed(Setting.publisherToken.name, wants: "1 to 512 visible ASCII characters")
        case .paymentURL: .malformed(Setting.paymentURL.name, wants: base)
        case .apiURL: .malformed(Setting.apiURL.name, wants: base)
        case .storeKit2URL: .malformed(Setting.storeKit2URL.name, wants: base)
        default: .unreadable("a setting that begins with RELAY_CLEENG", why: error.shortDescription)
        }
    }

    private static func drivers(_ reader: SettingReader) throws -> DriverPolicy {
        guard let policy = DriverPolicy(rawValue: try reader.choice(.driver)) else {
            throw SettingError.malformed(Setting.driver.name, wants: "auto, receipt or storekit2")
        }
        return policy
    }

    private static func eventSignature(_ reader: SettingReader) throws -> EventSignature? {
        let header = try reader.required(.webhookSignatureHeader)
        guard header.wholeMatch(of: /[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}/) != nil else {
            throw SettingError.malformed(Setting.webhookSignatureHeader.name, wants: "the name of a header field")
        }
        guard let encoding = EventSignature.Encoding(rawValue: try reader.choice(.webhookSignatureEncoding)) else {
            throw SettingError.malformed(Setting.webhookSignatureEncoding.name, wants: "hex or base64")
        }
        guard let secret = try reader.text(.webhookSecret) else { return nil }
        return EventSignature(secret: secret, header: header, encoding: encoding)
    }

    private static func proxies(_ reader: SettingReader) throws -> [AddressRange] {
        guard let text = try reader.text(.trustedProxies) else { return [] }
        return try text.split(separator: ",").map { part in
            guard let range = AddressRange(part.trimmingSpace()) else {
                throw SettingError.malformed(
                    Setting.trustedProxies.name, wants: "addresses or ranges such as 10.0.0.0/8, comma-separated")
            }
            return range
        }
    }

    private static func jwks(_ reader: SettingReader) throws -> CustomerJWKSSource? {
        let url = try reader.url(.customerJWKSURL)
        let file = try reader.text(.customerJWKSFile)
        switch (url, file) {
        case (nil, nil): return nil
        case (let url?, nil): return .url(url)
        case (nil, let file?): return .file(file)
        case (_?, _?): throw SettingError.both(Setting.customerJWKSURL.name, Setting.customerJWKSFile.name)
        }
    }
}
