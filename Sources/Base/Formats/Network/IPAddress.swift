#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An IPv4 or IPv6 address. An IPv4 address written as an IPv6 one (`::ffff:192.0.2.1`) is the IPv4 address.
public struct IPAddress: Hashable, Sendable {
    /// 4 or 16 bytes.
    public let bytes: [UInt8]

    /// Nil unless the text is one bare address, without port, brackets or zone.
    public init?(_ text: some StringProtocol) {
        let text = String(text)
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        guard
            let bytes = Self.parse(text, family: AF_INET, count: 4) ?? Self.parse(text, family: AF_INET6, count: 16)
        else { return nil }
        self.init(bytes: bytes)
    }

    /// Nil unless 4 or 16 bytes, in network order.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        let isMapped =
            bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xff && bytes[11] == 0xff
        self.bytes = isMapped ? Array(bytes.suffix(4)) : bytes
    }

    private static func parse(_ text: String, family: Int32, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }
}

extension IPAddress: CustomStringConvertible {
    public var description: String {
        if bytes.count == 4 { return bytes.map { String($0) }.joined(separator: ".") }
        var text = [CChar](repeating: 0, count: 46)
        guard inet_ntop(AF_INET6, bytes, &text, socklen_t(text.count)) != nil else { return "::" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
