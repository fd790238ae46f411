import RelayCore

/// Whose address a request came from, where proxies stand between.
enum ClientAddress {
    /// Entries of `X-Forwarded-For` that are looked at, from the right.
    private static let maximumHops = 32

    /// The rightmost address that is no trusted proxy's: what stands left of it anybody could have written.
    ///
    /// - Parameters:
    ///   - peer: the other end of the connection.
    ///   - forwardedFor: all of `X-Forwarded-For`, in order, joined by commas.
    static func find(peer: IPAddress?, forwardedFor: String?, trusted: [AddressRange]) -> IPAddress? {
        guard var address = peer, let forwardedFor else { return peer }
        var rest = forwardedFor[...]
        for _ in 0..<maximumHops where trusted.contains(where: { $0.contains(address) }) {
            guard !rest.isEmpty else { break }
            let entry: Substring
            if let comma = rest.lastIndex(of: ",") {
                entry = rest[rest.index(after: comma)...]
                rest = rest[..<comma]
            } else {
                entry = rest
                rest = ""
            }
            guard let next = self.address(in: entry) else { break }
            address = next
        }
        return address
    }

    /// Some proxies write a port, and brackets around IPv6.
    private static func address(in entry: Substring) -> IPAddress? {
        let text = entry.drop { $0 == " " || $0 == "\t" }
        let trimmed = text.prefix { $0 != " " && $0 != "\t" }
        if trimmed.first == "[" { return IPAddress(trimmed.dropFirst().prefix { $0 != "]" }) }
        if let address = IPAddress(trimmed) { return address }
        guard trimmed.count(where: { $0 == ":" }) == 1 else { return nil }
        return IPAddress(trimmed.prefix { $0 != ":" })
    }
}
