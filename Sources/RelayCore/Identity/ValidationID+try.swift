extension ValidationID {
    /// A UUID (version 4 in form) under which Cleeng is asked to know one try to send a purchase: so far as the form lets it, the
    /// digits are the validation's own, so that the two are found by each other. No two tries have the same, since Cleeng may
    /// know the earlier one still.
    ///
    /// - Parameters:
    ///   - number: tries before this one.
    ///   - transfers: whether it is for the transfer.
    public func uuid(ofTry number: Int, transfers: Bool) -> String {
        let high = self.high & ~0xF000 | 0x4000
        var low = self.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        // What is changed is random anyway.
        low ^= UInt64(truncatingIfNeeded: number) & 0xFFFF_FFFF
        low ^= transfers ? 1 << 40 : 0
        let digits = Array((Hex.text(of: high) + Hex.text(of: low)).utf8)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
    }
}
