/// The credentials of `Authorization: Bearer …` (RFC 6750 section 2.1).
enum BearerCredentials {
    /// Nil where there are none.
    static func parse(_ header: String?) -> Substring? {
        guard let header else { return nil }
        let scheme = header.prefix { $0 != " " }
        guard scheme.lowercased() == "bearer" else { return nil }
        let credentials = header.dropFirst(scheme.count).drop { $0 == " " }
        return credentials.isEmpty ? nil : credentials
    }
}
