import RelayCore

/// Which of Google's pushes the relay accepts.
struct GooglePushSettings: Sendable {
    var audience: String
    var email: String
    var keysURL: String

    /// Nil if neither audience nor email is set.
    ///
    /// - Throws: ``SettingError``.
    static func read(_ reader: SettingReader) throws -> GooglePushSettings? {
        let keysURL = try reader.url(.googleJWKSURL) ?? ""
        let (audience, email) = (try reader.text(.googlePushAudience), try reader.text(.googlePushEmail))
        if audience == nil, email == nil { return nil }
        guard let audience else { throw SettingError.missing(.googlePushAudience) }
        guard let email else { throw SettingError.missing(.googlePushEmail) }
        guard audience.utf8.count <= 512, audience.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SettingError.malformed(.googlePushAudience, wants: "1 to 512 visible ASCII characters without spaces")
        }
        guard email.utf8.count <= 320, email.contains("@") else {
            throw SettingError.malformed(.googlePushEmail, wants: "the email of a service account")
        }
        return GooglePushSettings(audience: audience, email: email, keysURL: keysURL)
    }

    /// The apps whose notifications are accepted.
    static func packages(_ reader: SettingReader) throws -> Set<BundleID> {
        Set(
            try reader.list(.googlePackages).map { name in
                guard name.wholeMatch(of: /[A-Za-z0-9_.]{1,255}/) != nil else {
                    throw SettingError.malformed(
                        .googlePackages, wants: "package names such as com.example.app, comma-separated")
                }
                return BundleID(name)
            })
    }
}

extension ServeSettings {
    /// The stores to which the relay acknowledges each grant.
    var acknowledged: Set<StorePlatform> {
        googleAcknowledge == .onGrant && accounts.all.contains { $0.google != nil } ? [.google] : []
    }
}

/// What acknowledges a granted purchase at Google Play.
enum GoogleAcknowledge: String, CaseIterable, Sendable {
    case onGrant = "on-grant"
    /// The app acknowledges its purchases itself.
    case never
}
