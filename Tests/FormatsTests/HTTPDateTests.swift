import Formats
import Testing

struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
        ] as [(Int64, String)])
    func aSecondIsWrittenInThePreferredForm(seconds: Int64, text: String) {
        #expect(HTTPDate.text(secondsSince1970: seconds) == text)
        #expect(HTTPDate.secondsSince1970(text) == seconds)
    }

    @Test("a clock before 1970 is written as 1970", arguments: [-1, -86_400, .min] as [Int64])
    func beforeTheEpoch(seconds: Int64) {
        #expect(HTTPDate.text(secondsSince1970: seconds) == "Thu, 01 Jan 1970 00:00:00 GMT")
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Sunday, 06-Nov-26 08:49:37 GMT", 1_793_954_977), ("Thu, 29 Feb 2024 23:59:60 GMT", 1_709_251_200),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ] as [(String, Int64)])
    func theThreeFormsOfADateAreRead(text: String, seconds: Int64) {
        #expect(HTTPDate.secondsSince1970(text) == seconds)
    }

    @Test(arguments: [
        "Mon, 29 Feb 2100 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 CET", "     ",
        "Wed, 31 Dec 1969 23:59:59 GMT", "",
    ])
    func whatIsNoDateIsRefused(text: String) {
        #expect(HTTPDate.secondsSince1970(text) == nil)
    }
}
