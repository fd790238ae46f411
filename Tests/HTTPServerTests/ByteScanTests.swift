import Testing

@testable import HTTPServer

/// Compares the scans of eight bytes at a time with scans byte by byte.
struct ByteScanTests {
    /// One special byte at each position of a text that is longer than four words, and not a whole number of words.
    @Test(arguments: UInt8.min...UInt8.max)
    func oneOddByteIsSeenWhereverItStands(byte: UInt8) {
        let isVisible = (0x21...0x7e).contains(byte)
        let isBase64 =
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || [UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "=")].contains(byte)
        let endsPlain = byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20
        for place in 0..<37 {
            var text = [UInt8](repeating: UInt8(ascii: "A"), count: 37)
            text[place] = byte
            text.withUnsafeBufferPointer { bytes in
                #expect(ByteScan.isVisible(bytes) == isVisible)
                #expect(ByteScan.isBase64(bytes) == isBase64)
                #expect(ByteScan.holdsNUL(bytes) == (byte == 0))
                var seen: UInt8 = 0
                let plain = ByteScan.plainStringBytes(UnsafeRawBufferPointer(bytes), from: 0, seen: &seen)
                // The scan covers whole words only, and stops before a word with the end of the string.
                #expect(plain == (endsPlain ? min(place / 8 * 8, 32) : 32))
                #expect((seen & 0x80 != 0) == (byte >= 0x80 && place < 32))
            }
        }
    }

    @Test func nothingAtAllHoldsNothing() {
        [UInt8]().withUnsafeBufferPointer { bytes in
            #expect(ByteScan.isVisible(bytes) && ByteScan.isBase64(bytes) && !ByteScan.holdsNUL(bytes))
        }
    }
}
