import Formats

extension AppleTimestamp: CustomStringConvertible {
    /// RFC 3339 in UTC, `2024-02-23T17:27:16Z`; milliseconds only where there are any.
    public var description: String {
        let text = RFC3339.text(millisecondsSince1970: millisecondsSince1970)
        return millisecondsSince1970 % 1_000 == 0 ? text.prefix(19) + "Z" : text
    }

    /// A date as receipts write it: RFC 3339 (`2024-02-23T17:27:16Z`), with old Xcode's offset without a colon
    /// (`+0100`), or the `2014-06-19 20:23:11 Etc/GMT` of transaction receipts.
    ///
    /// Nil for anything else, the empty string included, which is how Apple writes "none".
    init?(text bytes: ArraySlice<UInt8>) {
        guard let written = WrittenTime(bytes), let separator = written.separator, "Tt ".utf8.contains(separator),
            let offset = written.zone.elementsEqual(" Etc/GMT".utf8) ? 0 : written.offset
        else { return nil }
        // The year 0 and what an offset leads out of the calendar are no dates.
        self.init(millisecondsSince1970: (written.seconds - offset) * 1_000 + written.microseconds / 1_000)
    }
}
