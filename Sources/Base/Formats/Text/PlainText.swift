extension Unicode.Scalar {
    /// White space, or a control character.
    public var isSpaceOrControl: Bool {
        // The property lookup costs more than the rest of an email.
        if isASCII { return value <= 0x20 || value == 0x7f }
        return properties.isWhitespace || properties.generalCategory == .control
    }
}

extension String {
    /// The text with ASCII letters in lower case. Other letters keep their case: Unicode would fold letters of two
    /// customers into one (`K`, the Kelvin sign U+212A).
    public func asciiLowercased() -> String {
        guard utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else { return self }
        return String(
            decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

extension StringProtocol {
    /// The text without leading and trailing white space and control characters.
    public func trimmingSpace() -> String {
        var scalars = String(self).unicodeScalars[...]
        while let first = scalars.first, first.isSpaceOrControl { scalars.removeFirst() }
        while let last = scalars.last, last.isSpaceOrControl { scalars.removeLast() }
        return String(scalars)
    }
}

extension UInt8 {
    /// Whether it is an ASCII letter or digit, `_`, `-` or `.`. Ids consist of these, and URLs need not escape them.
    public var isOfID: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: isDigit
        }
    }

    /// An ASCII digit.
    public var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
