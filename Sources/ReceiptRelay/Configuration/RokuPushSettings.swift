import RelayCore
import RelayFront
import RokuPay

/// Which of Roku's pushes the relay accepts, if it has access to Roku.
struct RokuPushSettings: Sendable {
    var keysURL: String
    var unsigned: RokuUnsigned

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        keysURL = try reader.url(.rokuJWKSURL) ?? ""
        unsigned = try reader.choice(.rokuUnsigned)
    }

    /// - Parameter account: the Roku account that sends the pushes.
    func source(_ keys: SigningKeys, of account: RokuSettings) -> RokuNotifications {
        let unsigned: RokuNotifications.Unsigned =
            switch unsigned {
            case .answerKey: .answerKey(Private(account.key.text))
            case .signal: .signal
            case .refuse: .refuse
            }
        return RokuNotifications(keys: keys, unsigned: unsigned)
    }
}

/// What the relay does with unsigned pushes.
enum RokuUnsigned: String, CaseIterable, Sendable {
    case signal
    case answerKey = "answer-key"
    case refuse
}
