import Formats
import Testing

struct CalendarTests {
    @Test func everyDayOfFourCenturiesIsItself() {
        for days in stride(from: -135_140 as Int64, through: 110_000, by: 1) {
            #expect(CivilDate(daysSince1970: days).daysSince1970 == days)
        }
    }

    @Test func daysThatDoNotExistAreRefused() {
        for (year, month, day) in [
            (2023, 2, 29), (2100, 2, 29), (2024, 2, 30), (2024, 4, 31), (2024, 13, 1), (2024, 0, 1), (2024, 1, 0),
            (2024, 1, 32), (-1, 1, 1), (10_000, 1, 1),
        ] as [(Int64, Int64, Int64)] {
            #expect(CivilDate(year: year, month: month, day: day) == nil)
        }
        #expect(CivilDate(year: 2000, month: 2, day: 29)?.daysSince1970 == 11_016)
    }

    @Test(arguments: [Int64.min, .max]) func daysFarAwayTrapNothing(days: Int64) {
        #expect((1...12).contains(CivilDate(daysSince1970: days).month))
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_399_000, "2000-02-28T23:59:59.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"), (253_402_300_800_000, "10000-01-01T00:00:00.000Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
        ] as [(Int64, String)])
    func momentsAreWrittenAsRFC3339(moment: Int64, text: String) {
        #expect(RFC3339.text(millisecondsSince1970: moment) == text)
        var bytes: [UInt8] = []
        RFC3339.append(millisecondsSince1970: moment, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test(
        arguments: [
            ("Z", 0), ("z", 0), ("+01:00", 3_600), ("-0130", -5_400), ("+23:59", 86_340), ("", nil), ("+1", nil),
            ("+0:100", nil), ("+24:00", nil), ("+00:60", nil), (" Etc/GMT", nil), ("*01:00", nil), ("ZZ", nil),
        ] as [(String, Int64?)])
    func aZoneIsAnOffset(zone: String, offset: Int64?) throws {
        let written = try #require(WrittenTime(Array("2026-11-20T10:00:00.25\(zone)".utf8)[...]))
        #expect(written.offset == offset && written.microseconds == 250_000 && written.fractionDigits == 2)
        #expect(written.seconds == 1_795_168_800 && !written.isLeapSecond)
    }

    @Test(arguments: [
        "", "2026", "2026-02-29", "2026-1-1", "2026-11-20T", "2026-11-20T10:00", "2026-11-20T24:00:00",
        "2026-11-20T10:60:00", "2026-11-20T10:00:61", "2026-11-20T10:00:00.", "2026/11/20", "2026-11-20T10-00-00",
    ])
    func whatIsNoDateIsRefused(text: String) {
        #expect(WrittenTime(Array(text.utf8)[...]) == nil)
    }
}
