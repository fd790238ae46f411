/// `Prefer: wait=N` (RFC 7240 section 4.3).
enum PreferWait {
    static let maximumSeconds = 60

    /// Seconds, ``maximumSeconds`` at most; nil where no wait, or none that can be understood, is asked for: a preference
    /// that is not understood is to be ignored.
    static func parse(_ header: String?) -> Int? {
        guard let header else { return nil }
        for preference in header.split(separator: ",").prefix(16) {
            let assignment = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            guard assignment.count == 2, trimmed(assignment[0]).lowercased() == "wait" else { continue }
            var value = trimmed(assignment[1])
            if value.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
            guard (1...18).contains(value.utf8.count),
                value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let seconds = Int(value)
            else { return nil }
            return min(seconds, maximumSeconds)
        }
        return nil
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return start[...last]
    }
}
