import Formats

/// The parts of `Accept` (RFC 9110 section 12.5.1) that the relay uses.
package enum AcceptHeader {
    /// Whether the client names the event stream type. A wildcard does not count.
    package static func wantsEventStream(_ header: String?) -> Bool {
        guard let header, header.utf8.count >= 17 else { return false }
        return header.parts(at: ",", maxSplits: 32).prefix(32).contains { range in
            let parts = range.parts(at: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard parts.first == "text/event-stream" else { return false }
            return !parts.dropFirst().contains {
                $0.hasPrefix("q=0") && $0.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
            }
        }
    }
}

/// The parts of a request's `Cache-Control` (RFC 9111 section 5.2.1) that the relay uses.
package enum CacheControl {
    /// Whether the client asks for an uncached answer.
    package static func forbidsCache(_ header: String?) -> Bool {
        guard let header, header.utf8.count >= 8 else { return false }
        return header.parts(at: ",", maxSplits: 16).prefix(16).contains { $0.withoutBlanks.lowercased() == "no-cache" }
    }
}

/// `Prefer: wait=N` (RFC 7240 section 4.3).
package enum PreferWait {
    package static let maximumSeconds = 60

    /// Seconds, at most ``maximumSeconds``; nil if there is no wait or it is invalid. RFC 7240 requires servers to
    /// ignore an invalid preference.
    package static func parse(_ header: String?) -> Int? {
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
