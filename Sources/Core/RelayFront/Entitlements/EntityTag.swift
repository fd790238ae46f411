import RelayCore

/// The strong validator of a poll's answer (RFC 9110 section 8.8.3).
enum EntityTag {
    static func of(_ validation: Validation) -> String {
        "\"\(String(hash(of: validation), radix: 16))\""
    }

    static func hash(of validation: Validation) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ value: UInt64) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                hash = (hash ^ (value >> shift & 0xff)) &* 0x0000_0100_0000_01b3
            }
        }
        mix(validation.id.high)
        mix(validation.id.low)
        mix(UInt64(validation.status.rawValue) << 1 | (validation.late ? 1 : 0))
        // A missing time must differ from the time zero.
        for time in [validation.settledAt, validation.expiresAt] {
            mix(time == nil ? 0 : 1)
            mix(UInt64(bitPattern: time?.microseconds ?? 0))
        }
        for byte in (validation.reason ?? "").utf8 { mix(UInt64(byte)) }
        return hash
    }

    /// Whether `If-None-Match` names the tag. Weak comparison (section 13.1.2).
    static func matches(_ header: String?, _ tag: String) -> Bool {
        guard let header else { return false }
        return header.parts(at: ",", maxSplits: 32).prefix(32).contains { entry in
            var text = entry.withoutBlanks
            if text.hasBytes(first: "W/") { text = text.droppingBytes(first: 2) }
            return text.isSame("*") || text.isSame(tag)
        }
    }
}
