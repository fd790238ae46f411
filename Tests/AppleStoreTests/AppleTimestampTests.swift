import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("Dates are exact to the millisecond")
struct AppleTimestampTests {
    @Test(
        "written dates",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2024-02-23T17:27:16Z", 1_708_709_236_000),
            ("2020-07-22T18:33:15+0100", 1_595_439_195_000), ("2020-07-22T18:33:15+01:00", 1_595_439_195_000),
            ("2020-07-22T12:03:15-0530", 1_595_439_195_000), ("4001-01-01T00:00:00+0000", 64_092_211_200_000),
            ("2014-06-19 20:23:11 Etc/GMT", 1_403_209_391_000), ("2024-02-29T00:00:00.5Z", 1_709_164_800_500),
            ("2024-02-29T00:00:00.123456Z", 1_709_164_800_123), ("1969-12-31T23:59:59.999Z", -1),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000), ("2000-03-01t00:00:00z", 951_868_800_000),
        ])
    func written(text: String, milliseconds: Int64) {
        #expect(date(text)?.millisecondsSince1970 == milliseconds)
    }

    @Test(
        "what is no date",
        arguments: [
            "", " ", "2024-02-30T00:00:00Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z", "2024-01-00T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
            "2024-01-01T00:00:61Z", "2024-01-01T00:00:00", "2024-01-01", "2024-01-01T00:00:00Z ",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+1", "2024-01-01T00:00:00+2500", "24-01-01T00:00:00Z", "2014-06-19 13:23:11 PST",
            "0000-01-01T00:00:00Z", "9999-12-31T23:59:59-0100", "+024-01-01T00:00:00Z", "２024-01-01T00:00:00Z",
        ])
    func refused(text: String) {
        #expect(date(text) == nil)
    }

    @Test("every day of 1890 to 2110 is read as written")
    func roundTrip() throws {
        for day in -29_219...51_500 {
            let timestamp = try #require(AppleTimestamp(millisecondsSince1970: Int64(day) * 86_400_000))
            let text = Timestamp(microseconds: timestamp.millisecondsSince1970 * 1_000).rfc3339
            guard date(text) != timestamp else { continue }
            Issue.record("day \(day) came back as another")
            return
        }
    }

    @Test("the ledger's times are between 1970 and 9999; a later end is absent")
    func moments() throws {
        let year2100 = try #require(AppleTimestamp(millisecondsSince1970: 4_102_444_800_000))
        #expect(year2100.moment?.rfc3339 == "2100-01-01T00:00:00.000Z" && year2100.end == year2100.moment)
        for milliseconds in [AppleTimestamp.representable.lowerBound, -1, 0] {
            let early = try #require(AppleTimestamp(millisecondsSince1970: milliseconds))
            #expect(early.moment == nil && early.end == Timestamp(seconds: 0))
        }
        let last = try #require(AppleTimestamp(millisecondsSince1970: AppleTimestamp.representable.upperBound))
        #expect(last.moment?.rfc3339 == "9999-12-31T23:59:59.999Z" && last.end == nil)
    }

    @Test("numbers that are no time are absent")
    func numbers() {
        #expect(
            AppleTimestamp(external: 1_697_679_936_049.7297)?.millisecondsSince1970 == 1_697_679_936_049)
        for number in [Double.nan, .infinity, -.infinity, 1e300, -1e300, 9.3e18, 253_402_300_800_000] {
            #expect(AppleTimestamp(external: number) == nil)
        }
        #expect(AppleTimestamp(external: 1_697_679_936)?.millisecondsSince1970 == 1_697_679_936_000)
        #expect(AppleTimestamp(millisecondsSince1970: .max) == nil)
        #expect(AppleTimestamp(millisecondsSince1970: .min) == nil)
    }
}
