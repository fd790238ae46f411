import Formats

extension Timestamp {
    /// With seven decimals, as .NET writes it: `2026-01-02T03:04:05.1234560Z`. From the year 0 to the year 9999; outside of that the
    /// nearest.
    public var sevenDecimals: String {
        // 0000-01-01 and 9999-12-31.
        let bounded = min(max(microseconds, -62_167_219_200_000_000), 253_402_300_799_999_999)
        let second = bounded.floorDivided(by: 1_000_000)
        let rest = bounded - second * 1_000_000
        let digits = String(rest * 10)
        let fraction = String(repeating: "0", count: 7 - digits.utf8.count) + digits
        return "\(Timestamp(seconds: second).rfc3339.prefix(19)).\(fraction)Z"
    }
}
