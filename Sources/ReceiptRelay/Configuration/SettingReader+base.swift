import Foundation

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
