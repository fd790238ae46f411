import Foundation
import RelayStore

extension SettingReader {
    /// A URL that paths are appended to, without a trailing slash. Neither a user nor a query nor a fragment: the first would be
    /// a secret in an address, the others would swallow the path.
    func base(_ setting: Setting) throws -> String {
        var text = try required(setting)
        while text.hasSuffix("/") { text.removeLast() }
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false, url.user() == nil, url.query() == nil, url.fragment() == nil
        else {
            throw SettingError.malformed(
                setting.name, wants: "http(s)://host[:port][/path], without user, query or fragment")
        }
        return text
    }
}

extension SettingReader {
    /// The first one wraps, the others only open. None: nothing is sealed.
    func wrappingKeys() throws -> [WrappingKey] {
        guard let text = try text(.encryptionKeys) else { return [] }
        let parts = text.split { $0 == "," || $0.isWhitespace }
        let keys = parts.compactMap { WrappingKey(base64: String($0)) }
        guard keys.count == parts.count, (1...16).contains(keys.count) else {
            throw SettingError.malformed(
                Setting.encryptionKeys.name,
                wants:
                    "one to sixteen keys of 32 bytes in Base64, the current one first: `receipt-relay encryption create-key` makes one"
            )
        }
        return keys
    }
}
