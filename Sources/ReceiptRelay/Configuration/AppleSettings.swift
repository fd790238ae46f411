import AppStoreServer
import AppleStore
import Foundation
import Relay
import RelayCore

/// What the relay accepts as signed by Apple.
struct AppleSettings: Sendable {
    var verification: ReceiptPolicy.Mode
    var roots: TrustedRoots
    var scope: StoreScope
    /// Password in version 1 notifications.
    var sharedSecret: String?
    var renewalLeeway: Duration

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        verification = try reader.choice(.appleVerification)
        roots = try Self.roots(reader)
        sharedSecret = try reader.text(.appleSharedSecret)
        renewalLeeway = try reader.duration(.appleRenewalLeeway)
        let (bundles, app) = (Set(try Self.bundleIDs(reader)), try Self.appID(reader))
        guard app == nil || bundles.count <= 1 else {
            throw SettingError.malformed(
                .appleAppID, wants: "to be left out where \(Setting.appleBundleIDs.name) names several apps"
            )
        }
        scope = StoreScope(bundleIds: bundles, appId: app, environments: Set(try Self.environments(reader)))
    }

    /// Settings that may be unintended and are logged at the start.
    var warnings: [String] {
        var warnings: [String] = []
        if scope.bundleIds.isEmpty {
            warnings.append(
                "receipts and notifications of any app are taken for genuine: name yours in \(Setting.appleBundleIDs.name)"
            )
        }
        if roots.hasAdded {
            warnings.append(
                "roots beside Apple's are trusted (\(Setting.appleExtraRoots.name)): whoever has their keys can sign anything"
            )
        }
        return warnings
    }

    private static func bundleIDs(_ reader: SettingReader) throws -> [BundleID] {
        let ids = try reader.list(.appleBundleIDs)
        // The characters that App Store Connect accepts.
        guard ids.allSatisfy({ $0.wholeMatch(of: /[A-Za-z0-9.-]{1,155}/) != nil }) else {
            throw SettingError.malformed(.appleBundleIDs, wants: "bundle ids such as com.example.app, comma-separated")
        }
        return ids.map { BundleID($0) }
    }

    private static func appID(_ reader: SettingReader) throws -> Int64? {
        guard let text = try reader.text(.appleAppID) else { return nil }
        guard let number = Int64(text), number > 0 else {
            throw SettingError.malformed(.appleAppID, wants: "the app's number in the App Store")
        }
        return number
    }

    private static func environments(_ reader: SettingReader) throws -> [AppleEnvironment.Kind] {
        let known: [String: AppleEnvironment.Kind] = [
            "Production": .production, "Sandbox": .sandbox, "Xcode": .xcode, "LocalTesting": .localTesting,
        ]
        let kinds = try reader.list(.appleEnvironments).map { known[$0] }
        guard !kinds.isEmpty, kinds.allSatisfy({ $0 != nil }) else {
            throw SettingError.malformed(
                .appleEnvironments,
                wants: "some of Production, Sandbox, Xcode, LocalTesting, comma-separated")
        }
        return kinds.compactMap { $0 }
    }

    private static func roots(_ reader: SettingReader) throws -> TrustedRoots {
        let files = try reader.list(.appleExtraRoots).map { path in
            guard let data = FileManager.default.contents(atPath: path), data.count <= 1 << 20 else {
                throw SettingError.unreadable(
                    "a file that \(Setting.appleExtraRoots.name) names", why: "it is missing, or larger than 1 MiB")
            }
            return [UInt8](data)
        }
        do {
            return try TrustedRoots(adding: files)
        } catch {
            throw SettingError.unreadable(
                "a file that \(Setting.appleExtraRoots.name) names", why: error.description)
        }
    }
}

/// Access to the App Store Server API, if a key is set.
struct AppStoreSettings: Sendable {
    var credentials: AppStoreCredentials
    var urls: [AppStoreServerClient.Environment: String]
    /// Interval between two requests for missed notifications.
    var historyInterval: Duration

    /// Nil without an API key.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader, scope: StoreScope) throws -> AppStoreSettings? {
        let urls: [AppStoreServerClient.Environment: String] = [
            .production: try url(.appleAPIURL, reader), .sandbox: try url(.appleAPISandboxURL, reader),
        ]
        let interval = try reader.duration(.appleHistoryInterval)
        let parts = try [Setting.appleAPIKey, .appleAPIKeyID, .appleAPIIssuerID].map { try reader.text($0) }
        guard parts.contains(where: { $0 != nil }) else { return nil }
        guard !scope.bundleIds.isEmpty else {
            throw SettingError.malformed(.appleBundleIDs, wants: "your apps, where \(Setting.appleAPIKey.name) is set")
        }
        do {
            return AppStoreSettings(
                credentials: try AppStoreCredentials(
                    key: try reader.required(.appleAPIKey), keyID: try reader.required(.appleAPIKeyID),
                    issuerID: try reader.required(.appleAPIIssuerID)),
                urls: urls, historyInterval: interval)
        } catch let fault as AppStoreCredentials.Fault {
            throw switch fault {
            case .key:
                SettingError.malformed(
                    .appleAPIKey, wants: "the text of a .p8 file of App Store Connect (PKCS#8, P-256)")
            case .keyID: SettingError.malformed(.appleAPIKeyID, wants: "an id such as 2X9R4HXF34")
            case .issuerID: SettingError.malformed(.appleAPIIssuerID, wants: "a UUID")
            }
        }
    }

    private static func url(_ setting: Setting, _ reader: SettingReader) throws -> String {
        var url = try reader.url(setting) ?? ""
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }
}
