/// Writes moments as `2026-11-20T10:00:00.000Z`: UTC, always three decimals.
public enum RFC3339 {
    private static let length = 24

    public static func text(millisecondsSince1970 moment: Int64) -> String {
        let fields = Fields(moment)
        guard fields.fits else { return fields.longText }
        return String(unsafeUninitializedCapacity: length) { text in
            fields.write(to: text)
            return length
        }
    }

    public static func append(millisecondsSince1970 moment: Int64, to bytes: inout [UInt8]) {
        let fields = Fields(moment)
        guard fields.fits else { return bytes.append(contentsOf: fields.longText.utf8) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { text in
            fields.write(to: text)
            bytes.append(contentsOf: UnsafeBufferPointer(text))
        }
    }

    private struct Fields {
        let date: CivilDate
        let inDay: Int64

        init(_ moment: Int64) {
            let days = moment.floorDivided(by: 86_400_000)
            date = CivilDate(daysSince1970: days)
            // Wrapping arithmetic: the midnight before the earliest moment is out of range; the difference never is.
            inDay = moment &- days &* 86_400_000
        }

        /// Whether four digits hold the year.
        var fits: Bool { (0...9_999).contains(date.year) }

        func write(to text: UnsafeMutableBufferPointer<UInt8>) {
            func write(_ value: Int64, width: Int, at start: Int, then separator: Unicode.Scalar) {
                var rest = value
                for index in (start..<start + width).reversed() {
                    text.initializeElement(at: index, to: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
                    rest /= 10
                }
                text.initializeElement(at: start + width, to: UInt8(ascii: separator))
            }
            write(date.year, width: 4, at: 0, then: "-")
            write(date.month, width: 2, at: 5, then: "-")
            write(date.day, width: 2, at: 8, then: "T")
            write(inDay / 3_600_000, width: 2, at: 11, then: ":")
            write(inDay / 60_000 % 60, width: 2, at: 14, then: ":")
            write(inDay / 1_000 % 60, width: 2, at: 17, then: ".")
            write(inDay % 1_000, width: 3, at: 20, then: "Z")
        }

        /// The same text, with as many digits for the year as it needs.
        var longText: String {
            func padded(_ value: Int64, _ width: Int) -> String {
                let text = String(value)
                return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
            }
            // The time of day does not depend on the date, so a date in the year 2000 yields it.
            let time = RFC3339.text(millisecondsSince1970: 946_684_800_000 + inDay).suffix(14)
            return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))\(time)"
        }
    }
}
