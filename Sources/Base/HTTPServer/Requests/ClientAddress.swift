package import Formats

/// Finds a request's client address behind proxies.
package enum ClientAddress {
    /// Number of `X-Forwarded-For` entries to read, from the right.
    private static let maximumHops = 32

    /// The rightmost address that is not a trusted proxy. Anything left of it could be forged.
    ///
    /// - Parameters:
    ///   - peer: address of the connection's other end.
    ///   - forwardedFor: all `X-Forwarded-For` values, in order, joined by commas.
    package static func find(peer: IPAddress?, forwardedFor: String?, trusted: [AddressRange]) -> IPAddress? {
        guard var address = peer, let forwardedFor else { return peer }
        // Split by bytes: a client's last character could combine with the proxy's comma.
        var rest = forwardedFor[...].utf8
        for _ in 0..<maximumHops where trusted.contains(where: { $0.contains(address) }) {
            guard !rest.isEmpty else { break }
            let comma = rest.lastIndex(of: UInt8(ascii: ","))
            let entry = comma.map { rest[rest.index(after: $0)...] } ?? rest
            rest = comma.map { rest[..<$0] } ?? rest[rest.endIndex...]
            guard let next = self.address(in: Substring(entry).withoutBlanks) else { break }
            address = next
        }
        return address
    }

    /// Reads an address. Some proxies add a port, and brackets around IPv6; any other suffix is invalid.
    private static func address(in entry: Substring) -> IPAddress? {
        if let (before, after) = entry.halves(at: "]") {
            guard before.hasBytes(first: "["),
                after.isEmpty || after.hasBytes(first: ":") && isPort(after.droppingBytes(first: 1))
            else { return nil }
            return IPAddress(before.droppingBytes(first: 1))
        }
        if let address = IPAddress(entry) { return address }
        guard let (host, port) = entry.halves(at: ":"), isPort(port), let address = IPAddress(host),
            address.bytes.count == 4
        else { return nil }
        return address
    }

    private static func isPort(_ text: Substring) -> Bool {
        (1...5).contains(text.utf8.count) && text.utf8.allSatisfy(\.isDigit)
    }
}
