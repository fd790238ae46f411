/// Protocol text, processed by bytes. Swift compares and splits strings by characters: a combining mark (U+0301) joins
/// a separator into one character, and the separator would not be found.
extension StringProtocol {
    /// The parts between separators. Empty ones are kept.
    ///
    /// - Parameter separator: an ASCII character.
    public func parts(at separator: Unicode.Scalar, maxSplits: Int = .max) -> [Substring] {
        let text = Substring(self)
        return text.utf8.split(
            separator: UInt8(ascii: separator), maxSplits: maxSplits, omittingEmptySubsequences: false
        ).map { Substring($0) }
    }

    /// The text before and after the first separator; nil if there is none.
    public func halves(at separator: Unicode.Scalar) -> (before: Substring, after: Substring)? {
        let parts = parts(at: separator, maxSplits: 1)
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    public func hasBytes(first prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }

    public func hasBytes(last suffix: String) -> Bool { utf8.reversed().starts(with: suffix.utf8.reversed()) }

    public func hasByte(_ scalar: Unicode.Scalar) -> Bool { utf8.contains(UInt8(ascii: scalar)) }

    /// Whether both are the same bytes.
    public func isSame(_ other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// The text without leading and trailing spaces and tabs, the optional white space of header fields (RFC 9110
    /// section 5.6.3).
    public var withoutBlanks: Substring {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let text = Substring(self)
        guard let first = text.utf8.firstIndex(where: { !isBlank($0) }),
            let last = text.utf8.lastIndex(where: { !isBlank($0) })
        else { return "" }
        return text[first..<text.utf8.index(after: last)]
    }

    /// The text without that many leading and trailing bytes, which must be ASCII.
    public func droppingBytes(first: Int = 0, last: Int = 0) -> Substring {
        let text = Substring(self)
        return Substring(text.utf8.dropFirst(first).dropLast(last))
    }
}

extension String {
    /// Levenshtein distance in bytes: the least number of bytes to change, add or remove.
    public func distance(to other: String) -> Int {
        let other = Array(other.utf8)
        var row = Array(0...other.count)
        for (line, byte) in utf8.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in other.indices {
                let substitution = diagonal + (byte == other[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(substitution, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}
