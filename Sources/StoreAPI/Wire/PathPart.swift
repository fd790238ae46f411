/// What others say, as a part of a path.
package enum PathPart {
    /// Percent-encoded, all but RFC 3986's unreserved characters. Nil for what is no part of a path: nothing, too much, and dots
    /// alone, which would lead elsewhere.
    package static func encoded(_ text: String, atMost bytes: Int = 2_048) -> String? {
        guard (1...bytes).contains(text.utf8.count), text != ".", text != ".." else { return nil }
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
