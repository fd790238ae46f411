public import Formats

/// Decides which addresses messages may be sent to: the public internet, and ranges that the configuration adds.
///
/// An endpoint named by a publisher must not reach what only this machine, or its network, can reach.
public struct AddressPolicy: Sendable {
    private let allowed: [AddressRange]
    /// If true, http endpoints are refused, whatever their address.
    let requiresTLS: Bool

    /// IANA's special-purpose addresses (RFC 6890 and its registries), and unallocated ones.
    private static let refused = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        // In no registry: virtual machines in Azure reach their host by it.
        "168.63.129.16/32",
        // Protocol assignments with Teredo, benchmarking and ORCHID; documentation; 6to4.
        "2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
    ].compactMap { AddressRange($0) }

    /// The rest of IPv6 is special or unallocated: loopback, unspecified, IPv4-compatible, NAT64, unique local,
    /// link-local, site-local, multicast, discard-only. Mapped IPv4 addresses are treated as IPv4.
    private static let globalUnicast = AddressRange("2000::/3")

    public init(allowing allowed: [AddressRange] = [], requiresTLS: Bool = false) {
        self.allowed = allowed
        self.requiresTLS = requiresTLS
    }

    public func allows(_ address: IPAddress) -> Bool {
        if allowed.contains(where: { $0.contains(address) }) { return true }
        if Self.refused.contains(where: { $0.contains(address) }) { return false }
        return address.bytes.count == 4 || Self.globalUnicast?.contains(address) == true
    }
}
