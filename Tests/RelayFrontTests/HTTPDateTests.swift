import Testing

@testable import RelayFront

struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
        ] as [(Int, String)])
    func aSecondIsWrittenAsTheHeaderHasIt(seconds: Int, text: String) {
        #expect(HTTPDate.text(of: seconds) == text)
    }
}
