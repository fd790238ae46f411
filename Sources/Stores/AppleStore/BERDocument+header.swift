extension BERDocument {
    /// Identifier and length octets; `length` is nil for the indefinite form.
    struct Header {
        let identifier: UInt8
        let contents: Int
        let length: Int?
    }

    func header(at start: Int, end: Int) throws(BERError) -> Header {
        guard start < end else { throw .malformed }
        let identifier = bytes[start]
        // [UNIVERSAL 0] is reserved for end-of-contents marks, which belong to an indefinite length only.
        guard identifier & ~BERTag.constructedBit != 0 else { throw .malformed }
        var offset = start + 1
        if identifier & 0x1F == 0x1F {
            offset = try skipLongTag(at: offset, end: end)
        }
        guard offset < end else { throw .malformed }
        let first = bytes[offset]
        offset += 1
        if first < 0x80 {
            let length = Int(first)
            guard length <= end - offset else { throw .malformed }
            return Header(identifier: identifier, contents: offset, length: length)
        }
        if first == 0x80 {
            guard identifier & BERTag.constructedBit != 0 else { throw .malformed }
            return Header(identifier: identifier, contents: offset, length: nil)
        }
        let count = Int(first & 0x7F)
        guard count <= 8, count <= end - offset else { throw .malformed }
        var length: UInt64 = 0
        for index in offset..<(offset + count) {
            length = length << 8 | UInt64(bytes[index])
        }
        offset += count
        guard length <= UInt64(end - offset) else { throw .malformed }
        return Header(identifier: identifier, contents: offset, length: Int(length))
    }

    /// Tag numbers of 31 and more (X.690, 8.1.2.4), of four octets at most; the number itself means nothing here.
    private func skipLongTag(at start: Int, end: Int) throws(BERError) -> Int {
        var offset = start
        var number: UInt32 = 0
        while offset < end, offset - start < 4 {
            let octet = bytes[offset]
            guard offset != start || octet != 0x80 else { throw .malformed }
            number = number << 7 | UInt32(octet & 0x7F)
            offset += 1
            if octet & 0x80 == 0 {
                guard number >= 0x1F else { throw .malformed }
                return offset
            }
        }
        throw .malformed
    }

    /// Offset of the end-of-contents mark of an indefinite length. Does not recurse: contents of definite length are
    /// skipped whole, indefinite ones counted.
    func endOfContents(from start: Int, end: Int) throws(BERError) -> Int {
        var offset = start
        var depth = 1
        while true {
            guard end - offset >= 2 else { throw .malformed }
            if bytes[offset] == 0, bytes[offset + 1] == 0 {
                depth -= 1
                if depth == 0 { return offset }
                offset += 2
                continue
            }
            let header = try header(at: offset, end: end)
            offset = header.contents
            if let length = header.length {
                offset += length
            } else {
                depth += 1
                guard depth <= Self.maximumDepth else { throw .tooDeep }
            }
        }
    }
}
