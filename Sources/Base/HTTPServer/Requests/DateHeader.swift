import Formats

/// Value of the `Date` field, made once a second. Used by one connection.
struct DateHeader {
    private var second = Int64.min
    private var text = ""

    mutating func now() -> String {
        let now = WallClock.secondsSince1970
        if now != second {
            second = now
            text = HTTPDate.text(secondsSince1970: now)
        }
        return text
    }
}
