import RelayCore

/// `Prefer: wait=N` (RFC 7240 section 4.3).
enum PreferWait {
    static let maximumSeconds = 60

    /// Seconds, ``maximumSeconds`` at most; nil where no wait, or none that can be understood, is asked for: a preference
    /// that is not understood is to be ignored.
    static func parse(_ header: String?) -> Int? {
        guard let header else { return nil }
        for preference in header.parts(at: ",", maxSplits: 16).prefix(16) {
            guard let (name, text) = preference.parts(at: ";", maxSplits: 1)[0].halves(at: "="),
                name.withoutBlanks.lowercased() == "wait"
            else { continue }
            var value = text.withoutBlanks
            if value.utf8.count >= 2, value.hasBytes(first: "\""), value.hasBytes(last: "\"") {
                value = value.droppingBytes(first: 1, last: 1)
            }
            guard (1...18).contains(value.utf8.count),
                value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let seconds = Int(value)
            else { return nil }
            return min(seconds, maximumSeconds)
        }
        return nil
    }
}
