import Foundation

/// Scans bytes eight at a time: receipts are most of the input and are scanned more than once.
///
/// Uses one machine word and plain arithmetic. This compiler leaves the standard library's vectors as a call per byte,
/// which took 0.5 ms for a receipt of 8 KiB.
package enum ByteScan {
    private static let width = MemoryLayout<UInt64>.size
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Number of bytes from `start` on before the first that ends or breaks a JSON string: a quote, a backslash or a
    /// control character. Counts whole words only; the caller checks the rest. `seen` collects every byte's bits.
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
    package static func isVisible(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        all(bytes, { between(0x21, 0x7e, $0) }, { (0x21...0x7e).contains($0) })
    }

    /// Whether every byte is in base64's alphabet, including padding.
    package static func isBase64(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        all(bytes) { word in
            between(UInt8(ascii: "a"), UInt8(ascii: "z"), word | (ones &* 0x20))
                // The slash directly precedes the digits.
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

    package static func holdsNUL(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = bytes.baseAddress else { return false }
        return memchr(first, 0, bytes.count) != nil
    }

    /// - Parameter known: sets the high bit of each matching byte of an ASCII word.
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

    /// Not zero if some byte of the word is less than `limit`, which is at most 0x80. It does not show which byte.
    @inline(__always)
    private static func below(_ limit: UInt8, _ word: UInt64) -> UInt64 {
        (word &- (ones &* UInt64(limit))) & ~word & highBits
    }

    /// Sets the high bit of each byte of an ASCII word between `first` and `last`. Other bits are meaningless.
    @inline(__always)
    private static func between(_ first: UInt8, _ last: UInt8, _ word: UInt64) -> UInt64 {
        // The sums stay below 256, so no byte carries into the next.
        (word &+ (ones &* UInt64(0x80 - first))) & ~(word &+ (ones &* UInt64(0x7f - last)))
    }
}
