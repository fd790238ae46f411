/// Customer addresses as Cleeng's published schema takes them: dotted IPv4, or IPv6 with all eight groups written out.
/// A shortened IPv6 address (`::1`) does not match that schema.
enum IPAddressText {
    static func isAcceptable(_ text: String) -> Bool {
        guard text.utf8.count <= 45 else { return false }
        let dotted = text.split(separator: ".", omittingEmptySubsequences: false)
        if dotted.count == 4 {
            return dotted.allSatisfy { part in
                part.utf8.count <= 3 && part.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(part) != nil
            }
        }
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        return groups.count == 8
            && groups.allSatisfy { (1...4).contains($0.utf8.count) && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}
