extension BERDocument {
    /// Pieces inside pieces of a constructed string that are followed; Xcode writes one level.
    private static let maximumStringDepth = 4

    /// The octets of an OCTET STRING, or of a character string, in one piece.
    ///
    /// - Parameter tag: the primitive identifier; the constructed form of it is accepted too.
    func octets(_ element: BERElement, _ tag: UInt8 = BERTag.octetString) throws(BERError) -> BEROctets {
        if element.identifier == tag { return BEROctets(document: self, range: element.contents) }
        guard element.identifier == tag | BERTag.constructedBit else { throw .unexpectedElement }
        var collected: [UInt8] = []
        // The pieces cannot be longer than what holds them.
        collected.reserveCapacity(element.contents.count)
        try collect(element, into: &collected, depth: 1)
        let document = BERDocument(bytes: collected)
        return BEROctets(document: document, range: collected.indices)
    }

    private func collect(
        _ element: BERElement, into collected: inout [UInt8], depth: Int
    ) throws(BERError) {
        guard depth <= Self.maximumStringDepth else { throw .tooDeep }
        var cursor = element.children
        while let piece = try next(&cursor) {
            // Whatever the type of the string, its pieces are OCTET STRINGs (X.690, 8.23.6).
            if piece.identifier == BERTag.octetString {
                collected.append(contentsOf: bytes[piece.contents])
            } else if piece.identifier == BERTag.octetString | BERTag.constructedBit {
                try collect(piece, into: &collected, depth: depth + 1)
            } else {
                throw .unexpectedElement
            }
        }
    }

    /// An INTEGER of up to eight octets; nil where it is longer, empty or another type.
    func integer(_ element: BERElement) -> Int64? {
        guard element.identifier == BERTag.integer, (1...8).contains(element.contents.count) else { return nil }
        var value: Int64 = bytes[element.contents.lowerBound] & 0x80 == 0 ? 0 : -1
        for index in element.contents {
            value = value << 8 | Int64(bytes[index])
        }
        return value
    }
}
