import RelayCore
import Testing

@Suite("Dates in external data")
struct ExternalTimestampTests {
    @Test(
        "are seconds or milliseconds by their size",
        arguments: [
            ("4102444800000", "2100-01-01T00:00:00.000Z"), ("4102444800", "2100-01-01T00:00:00.000Z"),
            ("1893456000", "2030-01-01T00:00:00.000Z"), ("1893456000123", "2030-01-01T00:00:00.123Z"),
            ("1", "1970-01-01T00:00:01.000Z"), ("253402300799", "9999-12-31T23:59:59.000Z"),
            ("253402300799000", "9999-12-31T23:59:59.000Z"), ("253402300799999", "9999-12-31T23:59:59.999Z"),
            // The first number that is not a date in seconds.
            ("253402300800", "1978-01-11T21:31:40.800Z"),
        ])
    func numbers(text: String, date: String) throws {
        let number = try #require(Int64(text))
        #expect(Timestamp(external: number)?.rfc3339 == date)
        #expect(Timestamp(external: Double(number))?.rfc3339 == date)
        #expect(Timestamp(external: text)?.rfc3339 == date)
    }

    @Test(
        "may be a date of ISO 8601",
        arguments: [
            ("2030-01-01", "2030-01-01T00:00:00.000Z"), ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00.000Z"),
            ("2030-01-01 00:00:00", "2030-01-01T00:00:00.000Z"),
            ("2030-01-01T01:00:00+01:00", "2030-01-01T00:00:00.000Z"),
            ("2029-12-31T18:30:00-0530", "2030-01-01T00:00:00.000Z"),
            ("2030-01-01T00:00:00.123456789Z", "2030-01-01T00:00:00.123Z"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"), ("1893456000.5", "2030-01-01T00:00:00.500Z"),
            ("1.893456e9", "2030-01-01T00:00:00.000Z"),
        ])
    func texts(text: String, date: String) {
        #expect(Timestamp(external: text)?.rfc3339 == date)
    }

    @Test(
        "are none outside of the years 1970 to 9999",
        arguments: [
            "9223372036854775807", "-9223372036854775808", "-1", "0", "-4102444800000", "253402300800000", "1e18",
            "1e300",
            "1e999", "-1e300", "nan", "inf", "-inf", "99999999999999999999999", "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00Z",
            "1970-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "0000-01-01", "0001-01-01T00:00:00Z", "soon", "",
            "2030-02-29", "2030-01-01T24:00:00Z", "2030-01-01T00:00:00.Z", "2030-01-01T00:00:00+1",
            "2030-01-01T00:00:00+2500",
            "+2030-01-01", "2030-01-01T00:00:00+01:00:00", "2030-1-1", "\u{0}",
        ])
    func refused(text: String) {
        #expect(Timestamp(external: text) == nil)
        if let number = Int64(text) { #expect(Timestamp(external: number) == nil) }
        if let number = Double(text) { #expect(Timestamp(external: number) == nil) }
    }

    @Test("are limited to those years in every other form")
    func otherForms() {
        #expect(Timestamp(rfc3339: "1969-12-31T23:59:59Z") == nil && Timestamp(rfc3339: "0000-01-01") == nil)
        #expect(Timestamp(rfc3339: "9999-12-31T23:59:59.999999Z") == Timestamp.datable.upperBound)
        #expect(Timestamp(datable: -1) == nil && Timestamp(datable: .max) == nil && Timestamp(datable: .min) == nil)
        #expect(Timestamp(datable: 0) == Timestamp.datable.lowerBound)
    }
}
