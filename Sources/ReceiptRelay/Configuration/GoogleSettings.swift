import Foundation
import GooglePlay

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
