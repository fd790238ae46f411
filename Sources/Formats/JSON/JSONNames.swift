/// The names of members in a JSON text, looked at before Foundation's decoder does.
///
/// Foundation hashes each name. A string is hashed in normal form, and that takes the square of the time for a long run of combining marks: one name
/// of a megabyte holds a thread for minutes. No format that the relay reads has long names.
public enum JSONNames {
    /// Bytes of the longest name that is admitted.
    public static let longest = 256

    /// Whether no name is longer than ``longest``. Takes one pass, also over what is no JSON.
    public static func areShort(in bytes: some Sequence<UInt8>) -> Bool {
        var length: Int?
        var isEscaped = false
        var isLong = false
        for byte in bytes {
            if let count = length {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    (length, isLong) = (nil, count > longest)
                    continue
                }
                length = count + 1
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): length = 0
            case UInt8(ascii: ":") where isLong: return false
            case 0x20, 0x09, 0x0A, 0x0D: break
            default: isLong = false
            }
        }
        return true
    }
}
