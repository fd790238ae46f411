import RelayCore
import TestSupport
import Testing

struct RFC3339Tests {
    private static let day: Int64 = 86_400_000_000

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1_795_168_800_000_000, "2026-11-20T10:00:00.000Z"),
            (1_795_168_859_987_654, "2026-11-20T10:00:59.987Z"), (999, "1970-01-01T00:00:00.000Z"),
            (1_000, "1970-01-01T00:00:00.001Z"), (999_999, "1970-01-01T00:00:00.999Z"),
            (day - 1, "1970-01-01T23:59:59.999Z"), (1_000_000_000_000_000, "2001-09-09T01:46:40.000Z"),
            (2_147_483_647_000_000, "2038-01-19T03:14:07.000Z"), (2_147_483_648_000_000, "2038-01-19T03:14:08.000Z"),
            // Before 1970, a time still belongs to the millisecond that contains it.
            (-1, "1969-12-31T23:59:59.999Z"), (-1_000, "1969-12-31T23:59:59.999Z"),
            (-1_001, "1969-12-31T23:59:59.998Z"),
            (-day, "1969-12-31T00:00:00.000Z"), (-day - 1, "1969-12-30T23:59:59.999Z"),
            (-62_135_596_800_000_000, "0001-01-01T00:00:00.000Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func aMomentIsWrittenInUTCWithThreeDecimals(microseconds: Int64, text: String) {
        #expect(Timestamp(microseconds: microseconds).rfc3339 == text)
    }

    @Test(
        arguments: [
            (789, "1972-02-29"), (790, "1972-03-01"), (-25_509, "1900-02-28"), (-25_508, "1900-03-01"),
            (11_016, "2000-02-29"), (11_017, "2000-03-01"), (19_782, "2024-02-29"), (20_088, "2024-12-31"),
            (20_777, "2026-11-20"), (47_540, "2100-02-28"), (47_541, "2100-03-01"), (157_113, "2400-02-29"),
            (-135_081, "1600-02-29"), (-141_427, "1582-10-15"), (2_932_896, "9999-12-31"), (-719_162, "0001-01-01"),
        ] as [(Int64, String)])
    func leapDaysStandWhereTheCalendarHasThem(day: Int64, date: String) {
        #expect(Timestamp(microseconds: day * Self.day).rfc3339 == date + "T00:00:00.000Z")
        #expect(Timestamp(microseconds: (day + 1) * Self.day - 1).rfc3339 == date + "T23:59:59.999Z")
    }

    /// Counts month by month, like a wall calendar.
    @Test func everyMonthOf800YearsBeginsAndEndsOnItsDay() {
        var day: Int64 = -135_140  // 1600-01-01
        for year in 1600..<2400 {
            let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
            for (index, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                let month = index < 9 ? "0\(index + 1)" : "\(index + 1)"
                let first = Timestamp(microseconds: day * Self.day).rfc3339.prefix(10)
                let last = Timestamp(microseconds: (day + Int64(length) - 1) * Self.day).rfc3339.prefix(10)
                guard first == "\(year)-\(month)-01", last == "\(year)-\(month)-\(length)" else {
                    Issue.record("\(year)-\(month) is written as \(first) to \(last)")
                    return
                }
                day += Int64(length)
            }
        }
    }

    @Test func laterMomentsAreLaterTexts() {
        var generator = SeededGenerator(seed: 3)
        let moments = (0..<2_000).map { _ in
            Timestamp(microseconds: .random(in: -62_135_596_800_000_000...253_402_300_799_999_999, using: &generator))
        }
        let texts = moments.sorted().map(\.rfc3339)
        #expect(texts == texts.sorted())
        #expect(texts.allSatisfy { $0.utf8.count == 24 })
    }

    @Test(arguments: [Int64.min, .min + 1, .max - 1, .max]) func noMomentIsTooFarAwayToBeWritten(microseconds: Int64) {
        #expect(Timestamp(microseconds: microseconds).rfc3339.hasSuffix("Z"))
    }
}
