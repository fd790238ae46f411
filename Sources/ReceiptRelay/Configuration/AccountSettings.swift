import AmazonAppStore
import Cleeng
import Foundation
import GooglePlay
import RelayCore
import RelayFront

/// What is a publisher's own, or shared by those that have no own: the account at Cleeng, and the ways to the stores beside
/// Apple's.
struct AccountSettings: Sendable {
    var cleeng: CleengConfiguration
    var notifications: NotificationSettings
    /// Nil: Cleeng's events are not taken.
    var eventSignature: EventSignature?
    /// Nil: Google Play is not asked.
    var google: GoogleSettings?
    /// Nil: the Amazon Appstore is not asked.
    var amazon: AmazonSettings?

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        google = try GoogleSettings.read(reader)
        amazon = try AmazonSettings.read(reader)
        notifications = try NotificationSettings(reader)
        eventSignature = try Self.eventSignature(reader)
        cleeng = try Self.cleeng(reader)
    }

    private static func cleeng(_ reader: SettingReader) throws -> CleengConfiguration {
        let token = try reader.required(.publisherToken)
        guard token.utf8.count <= 512, !token.hasControlCharacters, !token.contains(" ") else {
            throw SettingError.malformed(Setting.publisherToken.name, wants: "one line without spaces")
        }
        guard let source = EntitlementSource(rawValue: try reader.choice(.entitlementSource)) else {
            throw SettingError.malformed(Setting.entitlementSource.name, wants: "entitlements or accessible-tags")
        }
        var tags: [OfferID: [TagID]] = [:]
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
}

/// How the Amazon Appstore is asked, where a shared secret for that was given.
struct AmazonSettings: Sendable {
    var secret: AmazonSecret
    /// With `/sandbox` for receipts of the App Tester.
    var url: String

    /// Nil without a secret.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> AmazonSettings? {
        let url = try reader.base(.amazonRVSURL)
        guard let text = try reader.text(.amazonSharedSecret) else { return nil }
        guard let secret = AmazonSecret(text) else {
            throw SettingError.malformed(
                Setting.amazonSharedSecret.name, wants: "1 to 512 visible ASCII characters without spaces")
        }
        return AmazonSettings(secret: secret, url: url)
    }
}

/// How Google Play is asked, where a service account for that was given.
struct GoogleSettings: Sendable {
    var account: ServiceAccount
    var apiURL: String
    var tokenURL: String

    /// Nil without a service account.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> GoogleSettings? {
        let (apiURL, tokenURL) = (try reader.base(.googleAPIURL), try reader.base(.googleTokenURL))
        guard let path = try reader.text(.googleServiceAccountFile) else { return nil }
        let what = "the file that \(Setting.googleServiceAccountFile.name) names"
        guard let file = FileManager.default.contents(atPath: path) else {
            throw SettingError.unreadable(what, why: "it is missing")
        }
        do {
            return GoogleSettings(account: try ServiceAccount(json: file), apiURL: apiURL, tokenURL: tokenURL)
        } catch {
            throw SettingError.unreadable(what, why: error.description)
        }
    }
}
