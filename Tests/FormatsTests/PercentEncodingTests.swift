import Formats
import Testing

struct PercentEncodingTests {
    @Test func invalidPathSegmentsAreRefused() {
        #expect("a/b?c#d e%é+~".pathSegment() == "a%2Fb%3Fc%23d%20e%25%C3%A9%2B~")
        for text in ["", ".", "..", String(repeating: "x", count: 2_049)] { #expect(text.pathSegment() == nil) }
        #expect("...".pathSegment() == "...")
        #expect("abc".pathSegment(atMost: 2) == nil)
    }
}
