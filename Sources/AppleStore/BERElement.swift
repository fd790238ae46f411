/// One tag-length-value, as offsets into the bytes of its ``BERDocument``; copies nothing.
struct BERElement {
    /// The first identifier octet: class, constructed bit and (below 31) tag number.
    let identifier: UInt8
    /// The contents, without a closing end-of-contents mark.
    let contents: Range<Int>
    /// The whole element with header and, of indefinite length, end-of-contents mark.
    let encoded: Range<Int>

    var isConstructed: Bool { identifier & BERTag.constructedBit != 0 }
    var isIndefinite: Bool { encoded.upperBound != contents.upperBound }
    var children: BERCursor { BERCursor(offset: contents.lowerBound, end: contents.upperBound) }
}
