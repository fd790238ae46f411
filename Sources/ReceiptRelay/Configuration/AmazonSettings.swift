import AmazonAppStore

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
