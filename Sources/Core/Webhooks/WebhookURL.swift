import Foundation

/// An endpoint's URL whose text is acceptable: http or https, without user and fragment.
public struct WebhookURL: Sendable, Hashable, CustomStringConvertible {
    public static let rule = "an http or https URL of at most 2,048 characters, without user and fragment"

    public let description: String
    /// Host for the lookup: without the brackets of an IPv6 address.
    public let host: String

    public init?(_ text: String) {
        guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("\\"),
            let url = URL(string: text), ["http", "https"].contains(url.scheme?.lowercased()),
            let host = url.host, url.user == nil, url.password == nil, url.fragment == nil,
            url.port.map({ (1...65_535).contains($0) }) ?? true
        else { return nil }
        // An encoded host would differ from the decoded one: the vetted host must be the one that is called.
        let authority = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst(2).first
        guard let authority, !authority.prefix(while: { $0 != "/" && $0 != "?" }).contains("%") else { return nil }
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        guard bare.wholeMatch(of: /[A-Za-z0-9_.-]{1,255}/) != nil || bare.wholeMatch(of: /[0-9A-Fa-f:.]{2,45}/) != nil
        else { return nil }
        self.description = text
        self.host = bare
    }

    public var isSecure: Bool { description.prefix(6).lowercased() == "https:" }
}
