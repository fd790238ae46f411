import Cleeng
import Formats
import Foundation
import HTTPServer
import Logging
import Relay
import RelayCore

/// The checked settings of `serve`.
struct ServeSettings: Sendable {
    var databaseURL: String
    var databaseConnections: Int
    var preparesStatements: Bool
    var httpHost: String
    var httpPort: Int
    var opsHost: String
    var opsPort: Int
    /// Accounts at Cleeng and at the stores: the one that publishers share, and those of publishers that have their
    /// own.
    var accounts: PerPublisher<AccountSettings>
    /// Publishers that have their own account on any copy. `accounts`, and values derived from it, have no value for a
    /// publisher whose account only other copies have.
    let roster: AccountRoster
    /// Limit of one call to Cleeng.
    var upstreamTimeout: Duration
    var drivers: DriverPolicy
    var pollInterval: Duration
    var validationTimeout: Duration
    var reconcileFor: Duration
    var maxBodyBytes: Int
    var maxBodiesBytes: Int
    var trustedProxies: [AddressRange]
    /// Origins of web pages that may call the app routes.
    var allowedOrigins: AllowedOrigins
    /// Nil: requests are not limited.
    var keyLimit: RateLimit?
    var addressLimit: RateLimit?
    var customerJWKS: CustomerJWKSSource?
    var customerJWKSMaximumAge: Duration
    var expectedTokens: CustomerTokenVerifier.Expected
    var apple: AppleSettings
    /// Settings of the stores other than Apple's that all accounts share.
    var stores: [StorePlatform: any StoreSettings] = [:]
    /// Interval between two sweeps of voided purchases.
    var voidedSweep: Duration
    /// Interval between two checks of a purchase at a store that has no list of refunded purchases.
    var storeRecheck: Duration
    /// Nil: no access to the App Store Server API.
    var appStore: AppStoreSettings?
    /// Nil: no certificate is checked.
    var revocation: RevocationSettings?
    var webhooks: WebhookSettings
    var retention: RetentionPolicy
    var tracing: TracingSettings
    var wrappingKeys: [WrappingKey]
    var logLevel: Logger.Level
    /// Whether http endpoints of webhooks are refused.
    var requiresTLS: Bool
    private var plainAddresses: PerPublisher<PlainAddresses>
    private var mixedAddresses: PerPublisher<MixedAddresses>
    private var isPublishersFileEmpty: Bool

    enum CustomerJWKSSource: Sendable, Equatable {
        case url(String)
        case file(String)
    }

    /// - Throws: ``SettingError`` with the name of the first invalid setting.
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
        allowedOrigins = try Self.origins(reader)
        keyLimit = try Self.limit(.keyLimit, reader)
        addressLimit = try Self.limit(.addressLimit, reader)
        customerJWKS = try Self.jwks(reader)
        customerJWKSMaximumAge = try reader.duration(.customerJWKSMaximumAge)
        expectedTokens = CustomerTokenVerifier.Expected(
            issuer: try reader.text(.customerIssuer), audience: try reader.text(.customerAudience))
        apple = try AppleSettings(reader)
        voidedSweep = try reader.duration(.voidedSweep)
        for module in StoreModule.all { stores[module.platform] = try module.process.init(reader) }
        storeRecheck = try reader.duration(.storeRecheck)
        appStore = try AppStoreSettings.read(reader, scope: apple.scope)
        revocation = try RevocationSettings.read(reader)
        drivers = try reader.choice(.driver)
        webhooks = try WebhookSettings(reader)
        tracing = try TracingSettings(reader)
        wrappingKeys = try reader.wrappingKeys()
        upstreamTimeout = try reader.duration(.upstreamTimeout)
        accounts = try reader.each { try AccountSettings($0) }
        // Accepted notifications need access to the store: they are only signals, after which the store is asked.
        for module in StoreModule.all where stores[module.platform]?.wantsAccess == true {
            guard accounts.all.contains(where: { $0.stores[module.platform] != nil }) else {
                throw SettingError.missing(module.credential)
            }
        }
        roster = reader.roster
        let requiresTLS = try reader.requiresTLS()
        self.requiresTLS = requiresTLS
        plainAddresses = try reader.each { try PlainAddresses($0, requiresTLS: requiresTLS) }
        mixedAddresses = try reader.each { try MixedAddresses($0) }
        isPublishersFileEmpty = try reader.text(.publishersFile) != nil && accounts.own.isEmpty
    }

    func accesses(to platform: StorePlatform) -> [any StoreAccess] { accounts.all.compactMap { $0.stores[platform] } }

    /// The stores to which the relay acknowledges each grant.
    var acknowledged: Set<StorePlatform> {
        Set(stores.filter { $0.value.acknowledges && !accesses(to: $0.key).isEmpty }.keys)
    }

    /// The stores that are asked at once about a new grant. Those that are acknowledged have questions of their own.
    var grantsAskedAt: Set<StorePlatform> {
        let others = Set(StorePlatform.asked.filter { !accesses(to: $0).isEmpty })
        return (appStore == nil ? others : others.union([.apple])).subtracting(acknowledged)
    }

    /// Warnings about upstream addresses without TLS or of another environment. They concern every role, since every
    /// role calls these addresses.
    var addressWarnings: [String] {
        var warnings = plainAddresses.common.warnings
        for (publisher, plain) in plainAddresses.own.sorted(by: { $0.key < $1.key }) {
            // Warnings about shared addresses are already in the list.
            var plain = plain
            plain.names.removeAll { plainAddresses.common.names.contains($0) }
            warnings += plain.warnings.map { "publisher \(publisher): \($0)" }
        }
        warnings += mixedAddresses.common.warnings
        for (publisher, mixed) in mixedAddresses.own.sorted(by: { $0.key < $1.key })
        where mixed.environment != mixedAddresses.common.environment || mixed.names != mixedAddresses.common.names {
            warnings += mixed.warnings.map { "publisher \(publisher): \($0)" }
        }
        return warnings
    }

    /// Targets of purchases: the common account's, and those of publishers with another address.
    var cleengTargets: [(publisher: PublisherID?, environment: String, host: String)] {
        func target(_ publisher: PublisherID?, _ account: AccountSettings) -> (PublisherID?, String, String) {
            let address = account.cleeng.paymentURL
            let url = URL(string: address)
            let host = (url?.host() ?? address) + (url?.port.map { ":\($0)" } ?? "")
            return (publisher, CleengEnvironment(of: address)?.rawValue ?? "none of Cleeng's own", host)
        }
        let common = target(nil, accounts.common)
        let own = accounts.own.sorted { $0.key < $1.key }.map { target($0.key, $0.value) }
        return [common] + own.filter { $0.2 != common.2 }
    }

    /// Warnings about valid settings that may be unintended.
    var warnings: [String] {
        let cleeng = accounts.common.cleeng
        let own = accounts.own.sorted { $0.key < $1.key }.flatMap { publisher, account in
            account.notifications.warnings.map { "publisher \(publisher): \($0)" }
        }
        var warnings = apple.warnings + accounts.common.notifications.warnings + own + webhooks.warnings
        warnings += addressWarnings
        if isPublishersFileEmpty {
            warnings.append("\(Setting.publishersFile.name) names a file without publishers: nobody has an own account")
        }
        guard drivers != .receipt else { return warnings }
        if apple.verification == .off {
            warnings.append(
                "Cleeng looks a StoreKit 2 transaction up by its number alone, and nobody looks at its signature (\(Setting.appleVerification.name) is off): whoever guesses a number can take that subscription"
            )
        }
        if CleengEnvironment(of: cleeng.paymentURL) == nil, CleengEnvironment(of: cleeng.storeKit2URL) != nil {
            warnings.append(
                "purchases by StoreKit 2 go to Cleeng and others do not: set \(Setting.storeKit2URL.name)")
        }
        return warnings
    }

    private static func proxies(_ reader: SettingReader) throws -> [AddressRange] {
        guard let text = try reader.text(.trustedProxies) else { return [] }
        return try text.parts(at: ",").filter { !$0.isEmpty }.map { part in
            guard let range = AddressRange(part.trimmingSpace()) else {
                throw SettingError.malformed(
                    .trustedProxies, wants: "addresses or ranges such as 10.0.0.0/8, comma-separated")
            }
            return range
        }
    }

    private static func origins(_ reader: SettingReader) throws -> AllowedOrigins {
        guard let text = try reader.text(.corsOrigins) else { return .none }
        guard let origins = AllowedOrigins(text) else {
            throw SettingError.malformed(
                .corsOrigins, wants: "*, or origins such as https://shop.example.com, comma-separated, without a path")
        }
        return origins
    }

    /// Reads `RATE` or `RATE:BURST`: requests per second, and requests at once. The default burst is ten seconds'
    /// worth.
    private static func limit(_ setting: Setting, _ reader: SettingReader) throws -> RateLimit? {
        guard let text = try reader.text(setting) else { return nil }
        let parts = text.parts(at: ":").map { String($0.trimmingSpace()) }
        guard parts.count <= 2, let rate = Double(parts[0]), (0.001...1_000_000).contains(rate),
            let burst = parts.count == 2 ? Int(parts[1]) : Int((rate * 10).rounded(.up)),
            (1...10_000_000).contains(burst)
        else {
            throw SettingError.malformed(
                setting,
                wants: "requests a second, and how many at once: 50:500 (at once ten times as many where left out)")
        }
        return RateLimit(rate: rate, burst: burst)
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
