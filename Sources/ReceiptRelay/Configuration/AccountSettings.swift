import AmazonAppStore
import Cleeng
import Foundation
import GooglePlay
import RelayCore
import RelayFront
import RokuPay

/// Settings that a publisher has for itself or shares with others: the account at Cleeng, and the access to stores
/// other than Apple's.
struct AccountSettings: Sendable {
    var cleeng: CleengConfiguration
    var notifications: NotificationSettings
    /// Nil: Cleeng's events are not accepted.
    var eventSignature: EventSignature?
    var transfers: TransferRules
    /// Nil: no access to Google Play.
    var google: GoogleSettings?
    /// Nil: no access to the Amazon Appstore.
    var amazon: AmazonSettings?
    /// Nil: no access to Roku.
    var roku: RokuSettings?

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        transfers = try TransferRules(reader)
        google = try GoogleSettings.read(reader)
        amazon = try AmazonSettings.read(reader)
        roku = try RokuSettings.read(reader)
        notifications = try NotificationSettings(reader)
        eventSignature = try Self.eventSignature(reader)
        cleeng = try Self.cleeng(reader)
    }

    private static func cleeng(_ reader: SettingReader) throws -> CleengConfiguration {
        let token = try reader.required(.publisherToken)
        guard token.utf8.count <= 512, !token.hasControlCharacters, !token.contains(" ") else {
            throw SettingError.malformed(.publisherToken, wants: "one line without spaces")
        }
        var tags: [OfferID: [TagID]] = [:]
        if let file = try reader.file(.tagsFile) {
            do {
                tags = try TagsFile.parse(String(decoding: file, as: UTF8.self))
            } catch {
                throw SettingError.unreadable(fileOf: .tagsFile, why: "\(error)")
            }
        }
        do {
            return try CleengConfiguration(
                publisherToken: Secret(token), paymentURL: try reader.url(.paymentURL) ?? "",
                apiURL: try reader.url(.apiURL) ?? "", storeKit2URL: try reader.url(.storeKit2URL) ?? "",
                googleURL: try reader.url(.cleengGoogleURL), entitlementSource: try reader.choice(.entitlementSource),
                tagsByOffer: tags,
                upstreamTimeout: try reader.duration(.upstreamTimeout),
                connectionsPerHost: try reader.integer(.maxConcurrentCalls))
        } catch let error as CleengConfigurationError {
            throw Self.settingError(error)
        }
    }

    private static func settingError(_ error: CleengConfigurationError) -> SettingError {
        let base = "http(s)://host[:port][/path], without user, query or fragment"
        return switch error {
        case .publisherToken: .malformed(.publisherToken, wants: "1 to 512 visible ASCII characters")
        case .paymentURL: .malformed(.paymentURL, wants: base)
        case .apiURL: .malformed(.apiURL, wants: base)
        case .storeKit2URL: .malformed(.storeKit2URL, wants: base)
        case .googleURL: .malformed(.cleengGoogleURL, wants: base)
        default: .unreadable("a setting that begins with RELAY_CLEENG", why: error.description)
        }
    }

    private static func eventSignature(_ reader: SettingReader) throws -> EventSignature? {
        let header = try reader.required(.webhookSignatureHeader)
        guard header.wholeMatch(of: /[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}/) != nil else {
            throw SettingError.malformed(.webhookSignatureHeader, wants: "the name of a header field")
        }
        let encoding: EventSignature.Encoding = try reader.choice(.webhookSignatureEncoding)
        guard let secret = try reader.text(.webhookSecret) else { return nil }
        return EventSignature(secret: secret, header: header, encoding: encoding)
    }
}

/// Access to the Amazon Appstore, if a shared secret is set.
struct AmazonSettings: Sendable {
    var secret: AmazonSecret
    /// Base address; it ends in `/sandbox` for receipts of the App Tester.
    var url: String

    /// Nil without a shared secret.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> AmazonSettings? {
        let url = try reader.base(.amazonRVSURL)
        guard let text = try reader.text(.amazonSharedSecret) else { return nil }
        guard let secret = AmazonSecret(text) else {
            throw SettingError.malformed(.amazonSharedSecret, wants: "1 to 512 visible ASCII characters without spaces")
        }
        return AmazonSettings(secret: secret, url: url)
    }
}

/// Access to Roku, if an API key is set.
struct RokuSettings: Sendable {
    var key: RokuAPIKey
    var url: String

    /// Nil without an API key.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> RokuSettings? {
        let url = try reader.base(.rokuAPIURL)
        guard let text = try reader.text(.rokuAPIKey) else { return nil }
        guard let key = RokuAPIKey(text) else {
            throw SettingError.malformed(.rokuAPIKey, wants: "1 to 512 visible ASCII characters without spaces")
        }
        return RokuSettings(key: key, url: url)
    }
}

/// Access to Google Play, if a service account is set.
struct GoogleSettings: Sendable {
    var account: ServiceAccount
    var apiURL: String
    var tokenURL: String

    /// Nil without a service account.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> GoogleSettings? {
        let (apiURL, tokenURL) = (try reader.base(.googleAPIURL), try reader.base(.googleTokenURL))
        guard let file = try reader.file(.googleServiceAccountFile) else { return nil }
        do {
            return GoogleSettings(account: try ServiceAccount(json: file), apiURL: apiURL, tokenURL: tokenURL)
        } catch {
            throw SettingError.unreadable(fileOf: .googleServiceAccountFile, why: error.description)
        }
    }
}

extension TransferRules {
    /// - Throws: ``SettingError``.
    fileprivate init(_ reader: SettingReader) throws {
        self.init(try reader.choice(.transferPolicy))
        guard let text = try reader.text(.accountTokenNamespace) else { return }
        guard let namespace = AccountToken(text) else {
            throw SettingError.malformed(.accountTokenNamespace, wants: "a UUID")
        }
        self.namespace = namespace
    }
}
