/// Reads the fixed fields of a written date off its bytes.
struct DigitScanner {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Exactly so many digits.
    mutating func number(_ digits: Int) -> Int? {
        guard rest.count >= digits else { return nil }
        var value = 0
        for byte in rest.prefix(digits) {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        rest = rest.dropFirst(digits)
        return value
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, UInt32(first) == character.value else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// `.` and digits, cut to thousandths; 0 where there is no fraction, nil for a point without digits.
    mutating func milliseconds() -> Int? {
        guard take(".") else { return 0 }
        var value = 0
        var digits = 0
        while let byte = rest.first, (0x30...0x39).contains(byte) {
            if digits < 3 { value = value * 10 + Int(byte - 0x30) }
            digits += 1
            rest = rest.dropFirst()
        }
        switch digits {
        case 0: return nil
        case 1: return value * 100
        case 2: return value * 10
        default: return value
        }
    }

    /// `Z`, `+01:00`, `+0100` or ` Etc/GMT`, in minutes east of UTC.
    mutating func offsetMinutes() -> Int? {
        if take("Z") || take("z") { return 0 }
        if rest.elementsEqual(" Etc/GMT".utf8) {
            rest = []
            return 0
        }
        let isWest = take("-")
        guard isWest || take("+"), let hours = number(2) else { return nil }
        _ = take(":")
        guard let minutes = number(2), hours < 24, minutes < 60 else { return nil }
        return (isWest ? -1 : 1) * (hours * 60 + minutes)
    }
}
