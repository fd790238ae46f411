#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Comparison of texts by their UTF-8 bytes, whole blocks at a time. Every look-up by an ``Identifier`` uses it.
@usableFromInline
enum TextBytes {
    @usableFromInline
    static func areEqual(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count && compare(left, right) == 0
    }

    /// - Returns: a negative number, 0 or a positive number, if the left text sorts before, with or after the right
    ///   one.
    @usableFromInline
    static func compare(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in
                let common = min(left.count, right.count)
                if common > 0, let first = left.baseAddress, let second = right.baseAddress {
                    let order = memcmp(first, second, common)
                    if order != 0 { return Int(order) }
                }
                return left.count - right.count
            }
        }
    }
}
