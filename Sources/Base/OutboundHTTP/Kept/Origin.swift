import NIOCore

/// Scheme, host and port of a URL. Requests to the same origin can share connections.
public struct Origin: Sendable, Hashable {
    let isEncrypted: Bool
    /// The host; an IPv6 address is without brackets.
    let host: String
    let port: Int
    /// The value of the `Host` header, without the scheme's default port.
    let authority: String
    /// The start of every URL of this origin.
    private let prefix: String

    /// Nil unless the URL is `http(s)://host[:port]` and a path. A URL with a user name is refused: no call needs one.
    public init?(of url: String) {
        guard let mark = url.firstRange(of: "://") else { return nil }
        switch url[..<mark.lowerBound].lowercased() {
        case "http": isEncrypted = false
        case "https": isEncrypted = true
        default: return nil
        }
        let text = url[mark.upperBound...].prefix { !"/?#".contains($0) }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "@") }) else { return nil }
        let isBracketed = text.hasPrefix("[")
        let end =
            isBracketed ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":") ?? text.endIndex
        guard let end else { return nil }
        let name = text[..<end]
        let digits = text[end...].dropFirst()
        guard name.count > (isBracketed ? 2 : 0), text[end...].isEmpty || text[end] == ":" else { return nil }
        let usual = isEncrypted ? 443 : 80
        guard let port = digits.isEmpty ? usual : UInt16(digits).map(Int.init), port > 0 else { return nil }
        self.host = String(isBracketed ? name.dropFirst().dropLast() : name)
        self.port = port
        authority = port == usual ? String(name) : "\(name):\(port)"
        prefix = String(url[..<text.endIndex])
    }

    /// Path and query of a URL; nil if the URL has another origin.
    func target(in url: String) -> Substring? {
        guard url.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = url[url.utf8.index(url.startIndex, offsetBy: prefix.utf8.count)...]
        switch rest.utf8.first {
        case nil: return "/"
        case UInt8(ascii: "/"): return rest.withoutFragment
        case UInt8(ascii: "?"): return "/" + rest.withoutFragment
        case UInt8(ascii: "#"): return "/"
        default: return nil
        }
    }

    /// Server name for TLS; nil for an IP address, since RFC 6066, section 3, allows none there.
    var serverName: String? {
        (try? SocketAddress(ipAddress: host, port: port)) == nil ? host : nil
    }
}

extension Substring {
    fileprivate var withoutFragment: Substring { utf8.firstIndex(of: UInt8(ascii: "#")).map { self[..<$0] } ?? self }
}
