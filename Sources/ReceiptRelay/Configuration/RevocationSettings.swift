import AppleStore

/// Settings of the check whether Apple has revoked its certificates.
struct RevocationSettings: Sendable {
    /// Interval between two rounds of a process.
    var interval: Duration
    /// Address of the OCSP responder without a trailing slash.
    var url: String

    /// Nil: no certificate is checked.
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

    /// Whether certificates below added roots are checked. Apple's responder does not know them; a simulator may.
    var includesAddedRoots: Bool { url != Setting.appleOCSPURL.standard }
}
