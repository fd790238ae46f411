import Formats

extension Timestamp {
    /// `2026-11-20T10:00:00.000Z`: UTC, always three decimals.
    public var rfc3339: String { RFC3339.text(millisecondsSince1970: millisecondsSince1970) }

    /// Rounded down.
    public var millisecondsSince1970: Int64 { microseconds.floorDivided(by: 1_000) }

    /// Reads `2026-11-20T10:00:00Z`, with up to six decimals, or a date alone, which is its first moment. Always UTC, and nil
    /// outside of ``datable``.
    public init?(rfc3339 text: some StringProtocol) {
        guard let written = WrittenTime(Array(text.utf8.prefix(64))[...]) else { return nil }
        if let separator = written.separator {
            guard separator == UInt8(ascii: "T"), !written.isLeapSecond, written.fractionDigits <= 6,
                written.zone.elementsEqual("Z".utf8)
            else { return nil }
        }
        self.init(datable: written.seconds * 1_000_000 + written.microseconds)
    }
}
