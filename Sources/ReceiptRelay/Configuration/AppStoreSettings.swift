import AppStoreServer
import AppleStore

/// How the App Store itself is asked, where a key for that was given.
struct AppStoreSettings: Sendable {
    var credentials: AppStoreCredentials
    var urls: [AppStoreServerClient.Environment: String]
    /// Between two times that missed notifications are asked for.
    var historyInterval: Duration

    /// Nil without a key.
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
            throw SettingError.malformed(
                Setting.appleBundleIDs.name, wants: "your apps, where \(Setting.appleAPIKey.name) is set")
        }
        do {
            return AppStoreSettings(
                credentials: try AppStoreCredentials(
                    key: try reader.required(.appleAPIKey), keyID: try reader.required(.appleAPIKeyID),
                    issuerID: try reader.required(.appleAPIIssuerID)),
                urls: urls, historyInterval: interval)
        } catch let fault as AppStoreCredentials.Fault {
            switch fault {
            case .key:
                throw SettingError.malformed(
                    Setting.appleAPIKey.name, wants: "the text of a .p8 file of App Store Connect (PKCS#8, P-256)")
            case .keyID:
                throw SettingError.malformed(Setting.appleAPIKeyID.name, wants: "an id such as 2X9R4HXF34")
            case .issuerID: throw SettingError.malformed(Setting.appleAPIIssuerID.name, wants: "a UUID")
            }
        }
    }

    private static func url(_ setting: Setting, _ reader: SettingReader) throws -> String {
        var url = try reader.url(setting) ?? ""
        while url.hasSuffix("/") { url.removeLast() }
        return url
    }
}
