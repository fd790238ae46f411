extension String {
    /// Percent-encoded: everything but RFC 3986's unreserved characters. A plus sign stays a plus sign in a query.
    public var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count + 16)
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Percent-encoded as one path segment. Nil if the text is empty, too long, `.` or `..`, which would change the
    /// path.
    public func pathSegment(atMost maxBytes: Int = 2_048) -> String? {
        guard (1...maxBytes).contains(utf8.count), self != ".", self != ".." else { return nil }
        return percentEncoded
    }
}
