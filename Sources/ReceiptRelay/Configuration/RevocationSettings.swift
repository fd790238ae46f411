import AppleStore

/// How Apple is asked whether its certificates were revoked.
struct RevocationSettings: Sendable {
    /// Between two rounds of a process.
    var interval: Duration
    /// Without a trailing slash.
    var url: String

    /// Nil: Apple is not asked.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> RevocationSettings? {
        let url = try reader.base(.appleOCSPURL)
        let interval = try reader.duration(.appleRevocationInterval)
        guard interval > .zero else { return nil }
        guard interval >= .seconds(1) else {
            throw SettingError.malformed(.appleRevocationInterval, wants: "0, or at least one second")
        }
        return RevocationSettings(interval: interval, url: url)
    }

    /// Apple itself knows nothing of certificates below roots that were added; a stand-in may.
    var includesAddedRoots: Bool { url != Setting.appleOCSPURL.standard }
}
