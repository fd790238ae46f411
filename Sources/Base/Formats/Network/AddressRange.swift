/// A range of addresses: `10.0.0.0/8`, `2001:db8::/32`, or a single address.
public struct AddressRange: Sendable, Hashable {
    private let network: IPAddress
    private let prefix: Int

    /// Nil if the text is not an address, or the prefix length is invalid for its family.
    public init?(_ text: String) {
        let parts = text.parts(at: "/", maxSplits: 1)
        guard let network = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        let bits = network.bytes.count * 8
        self.network = network
        guard parts.count == 2 else {
            prefix = bits
            return
        }
        guard parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(parts[1]), length <= bits
        else {
            return nil
        }
        prefix = length
    }

    public func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == network.bytes.count else { return false }
        let whole = prefix / 8
        guard address.bytes.prefix(whole) == network.bytes.prefix(whole) else { return false }
        let rest = prefix % 8
        return rest == 0 || (address.bytes[whole] ^ network.bytes[whole]) >> (8 - rest) == 0
    }
}
