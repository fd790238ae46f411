/// The credentials of `Authorization: Bearer …` (RFC 6750 section 2.1).
enum BearerCredentials {
    /// Nil where there are none.
    static func parse(_ header: String?) -> Substring? {
        // By bytes: a walk over characters would cost more than the whole answer.
        guard let header, let space = header.utf8.firstIndex(of: UInt8(ascii: " ")),
            header.utf8[..<space].elementsEqual("bearer".utf8, by: { $0 | 0x20 == $1 }),
            let start = header.utf8[space...].firstIndex(where: { $0 != UInt8(ascii: " ") })
        else { return nil }
        return header[start...]
    }
}
