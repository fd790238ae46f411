import RelayCore

/// `Cache-Control` of a request (RFC 9111 section 5.2.1), as far as it matters here.
enum CacheControl {
    /// Whether an answer of now is asked for.
    static func forbidsCache(_ header: String?) -> Bool {
        guard let header, header.utf8.count >= 8 else { return false }
        return header.parts(at: ",", maxSplits: 16).prefix(16).contains { $0.withoutBlanks.lowercased() == "no-cache" }
    }
}
