/// A check of the member names in a JSON text, made before Foundation decodes it.
///
/// Foundation hashes each name in normal form. For a long run of combining marks that takes the square of its length.
/// One name of a megabyte would hold a thread for minutes. No format that the relay reads has long names.
public enum JSONNames {
    /// Longest name that is admitted, in bytes.
    public static let longest = 256

    /// Whether no name is longer than ``longest``. Takes one pass, also over text that is not JSON.
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
