import Foundation

/// Looks through bytes eight at a time: a receipt is looked through more than once, and is most of what comes in.
///
/// Within a machine word and by plain arithmetic: the standard library's vectors are left as calls for each of their bytes
/// by this compiler, which took 0.5 ms for a receipt of 8 KiB.
enum ByteScan {
    private static let width = MemoryLayout<UInt64>.size
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// How many bytes from `start` on come before the first that ends or breaks a JSON string (a quote, a backslash, a control
    /// character), in whole words: the rest is for the caller to look at. `seen` gathers every byte's bits.
    static func plainStringBytes(_ bytes: UnsafeRawBufferPointer, from start: Int, seen: inout UInt8) -> Int {
        var gathered: UInt64 = 0
        var index = start
        while index + width <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let special =
                below(0x20, word) | below(1, word ^ (ones &* UInt64(UInt8(ascii: "\""))))
                | below(1, word ^ (ones &* UInt64(UInt8(ascii: "\\"))))
            guard special == 0 else { break }
            gathered |= word
            index += width
        }
        for shift in stride(from: 0, to: 64, by: 8) { seen |= UInt8(truncatingIfNeeded: gathered >> UInt64(shift)) }
        return index - start
    }

    /// Whether every byte is a visible ASCII character.
    static func isVisible(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        all(bytes, { between(0x21, 0x7e, $0) }, { (0x21...0x7e).contains($0) })
    }

    /// Whether every byte is of the alphabet of base64, padding included.
    static func isBase64(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        all(bytes) { word in
            between(UInt8(ascii: "a"), UInt8(ascii: "z"), word | (ones &* 0x20))
                // The slash comes right before the digits.
                | between(UInt8(ascii: "/"), UInt8(ascii: "9"), word)
                | between(UInt8(ascii: "+"), UInt8(ascii: "+"), word)
                | between(UInt8(ascii: "="), UInt8(ascii: "="), word)
        } _: { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "/")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "="):
                true
            default: false
            }
        }
    }

    static func holdsNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = bytes.baseAddress else { return false }
        return memchr(first, 0, bytes.count) != nil
    }

    /// - Parameter known: the high bit of each byte of a word, all of them ASCII, that is one of those looked for.
    @inline(__always)
    private static func all(
        _ bytes: UnsafeBufferPointer<UInt8>, _ known: (UInt64) -> UInt64, _ isKnown: (UInt8) -> Bool
    ) -> Bool {
        let bytes = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index + width <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard word & highBits == 0, known(word) & highBits == highBits else { return false }
            index += width
        }
        while index < bytes.count {
            guard isKnown(bytes[index]) else { return false }
            index += 1
        }
        return true
    }

    /// Not zero where some byte of any word is less than `limit`, which is at most 0x80. Which one, it does not say.
    @inline(__always)
    private static func below(_ limit: UInt8, _ word: UInt64) -> UInt64 {
        (word &- (ones &* UInt64(limit))) & ~word & highBits
    }

    /// The high bit of each byte of an ASCII word that is from `first` to `last`; other bits are of no meaning.
    @inline(__always)
    private static func between(_ first: UInt8, _ last: UInt8, _ word: UInt64) -> UInt64 {
        // ASCII and what is added stay below 256: no byte carries into its neighbour.
        (word &+ (ones &* UInt64(0x80 - first))) & ~(word &+ (ones &* UInt64(0x7f - last)))
    }
}
