import RelayCore

/// `Accept` (RFC 9110 section 12.5.1), as far as it matters here.
enum AcceptHeader {
    /// Whether a stream of events is asked for by name; a wildcard does not ask for one.
    static func wantsEventStream(_ header: String?) -> Bool {
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
