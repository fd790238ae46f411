extension ValidationID {
    /// A UUID (version 4 in form) under which Cleeng is asked to know what one claim of a pursuit sends: so far as the form lets
    /// it, the digits are the validation's own, so that the two are found by each other. No two claims have the same, since
    /// Cleeng may still know what an earlier one sent.
    ///
    /// - Parameter fence: the claim's number, from 1 on; the first one's digits are not changed.
    public func uuid(ofClaim fence: Int32) -> String {
        let high = self.high & ~0xF000 | 0x4000
        let low = self.low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        // What is changed is random anyway.
        let digits = Array((Hex.text(of: high) + Hex.text(of: low ^ UInt64(UInt32(bitPattern: fence &- 1)))).utf8)
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(decoding: digits[$0], as: UTF8.self) }
            .joined(separator: "-")
    }
}
