/// The octets of a string: a range of the bytes they came from, or of bytes put together out of its pieces.
struct BEROctets {
    let document: BERDocument
    let range: Range<Int>

    var bytes: ArraySlice<UInt8> { document.bytes[range] }
    var root: BERCursor { BERCursor(offset: range.lowerBound, end: range.upperBound) }
}
