import RelayCore
import RelayFront
import RokuPay

/// Which pushes of Roku's are taken, where Roku can be asked.
struct RokuPushSettings: Sendable {
    var keysURL: String
    var unsigned: RokuUnsigned

    /// - Throws: ``SettingError``.
    init(_ reader: SettingReader) throws {
        keysURL = try reader.url(.rokuJWKSURL) ?? ""
        unsigned = try reader.choice(.rokuUnsigned)
    }

    /// - Parameter account: whose pushes they are.
    func policy(_ keys: SigningKeys, of account: RokuSettings) -> RokuPushPolicy {
        let unsigned: RokuPushPolicy.Unsigned =
            switch unsigned {
            case .answerKey: .answerKey(Private(account.key.text))
            case .signal: .signal
            case .refuse: .refuse
            }
        return RokuPushPolicy(keys: keys, unsigned: unsigned)
    }
}

/// How pushes are treated that nobody has signed.
enum RokuUnsigned: String, CaseIterable, Sendable {
    case signal
    case answerKey = "answer-key"
    case refuse
}
