import Cleeng
import Foundation
import Relay
import RelayCore

/// Settings that a publisher has for itself or shares with others: the account at Cleeng, and the access to stores
/// other than Apple's.
struct AccountSettings: Sendable {
    var cleeng: CleengConfiguration
    var notifications: NotificationSettings
    /// Nil: Cleeng's events are not accepted.
    var eventSignature: EventSignature?
    var transfers: TransferRules
    /// Access to stores other than Apple's.
    var stores: [StorePlatform: any StoreAccess] = [:]

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        transfers = try TransferRules(reader)
        for module in StoreModule.all { stores[module.platform] = try module.access.read(reader) }
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
