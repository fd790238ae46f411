import Formats
import RelayCore
import Testing

struct CustomerEmailTests {
    @Test(
        arguments: [
            "ana@example.test", "Ana@Example.TEST", "ANA@EXAMPLE.TEST", " ana@example.test", "ana@example.test ",
            "\tana@example.test\t", "\r\nana@example.test\r\n", "\u{A0}ana@example.test\u{A0}",
            "\u{2003}\u{3000}ana@example.test\u{2028}", "\u{85}ana@example.test\u{0B}\u{0C}",
            " \t Ana@example.test \n\n",
        ])
    func caseAndSurroundingSpaceTellNoCustomersApart(text: String) {
        #expect(CustomerEmail(text)?.customer == "ana@example.test")
    }

    @Test func theForwardedEmailKeepsItsCaseWithoutSpaceAroundIt() {
        #expect(CustomerEmail("Ana.Maria@Example.TEST")?.sent == "Ana.Maria@Example.TEST")
        #expect(CustomerEmail(" \tAna@Example.test\n")?.sent == "Ana@Example.test")
    }

    /// The address becomes part of columns, queries and headers, so it must not contain anything else.
    @Test func controlCharactersAndEndlessSpaceAroundAnAddressAreDropped() {
        #expect(CustomerEmail("\0ana@example.test\u{1B}\u{7F}")?.sent == "ana@example.test")
        let space = String(repeating: " ", count: 500_000)
        #expect(CustomerEmail(space + "ana@example.test" + space)?.sent.utf8.count == 16)
    }

    @Test(
        arguments: [
            ("a@b", "a@b"), ("Ana+Tag@example.test", "ana+tag@example.test"),
            ("O'Brien.x_y-z@sub.example.test", "o'brien.x_y-z@sub.example.test"),
            ("ÅSA@BÜCHER.test", "Åsa@bÜcher.test"), ("\u{212A}@b", "\u{212A}@b"),
            ("用户@例え.テスト", "用户@例え.テスト"), ("\"Ana@Home\"@example.test", "\"ana@home\"@example.test"),
            ("\"@\"@example.test", "\"@\"@example.test"), ("ana@[192.0.2.1]", "ana@[192.0.2.1]"),
            ("...@...", "...@..."), ("'; drop table x;--@b", nil), ("';--@b", "';--@b"),
        ] as [(String, String?)])
    func whatCouldBeAnAddressIsTaken(text: String, customer: String?) {
        #expect(CustomerEmail(text)?.customer == CustomerID(customer))
    }

    @Test(
        arguments: [
            "", " ", "\0", "@", "@@", "ana", "ana@", "@example.test", " @example.test", "ana@ ", "ana.example.test",
            // White space and control characters inside.
            "ana maria@example.test", "ana@exam ple.test", "ana@ example.test", "ana\t@example.test",
            "ana\n@example.test", "ana@example.test\r\nBcc: all@example.test", "ana\0@example.test",
            "ana@example\0.test", "ana\u{1B}@example.test", "ana\u{7F}@example.test", "ana\u{85}@example.test",
            "ana\u{A0}@example.test", "ana\u{2028}@example.test", "ana\u{3000}@example.test",
            "\"ana maria\"@example.test",
            // Several at signs, and quotes that do not enclose them.
            "ana@home@example.test", "ana@@example.test", "@ana@example.test", "\"ana@home@example.test",
            "ana\"@home\"@", "\"ana\"@home@example.test",
            // A combining mark makes the at sign another character, but not another byte.
            "ana@\u{301}home@example.test", "@\u{301}@example.test",
        ])
    func whatCannotBeAnAddressIsRefused(text: String) {
        #expect(CustomerEmail(text) == nil)
    }

    @Test func anAddressHas254BytesAtMost() {
        let domain = String(repeating: "d", count: 252)
        #expect(CustomerEmail("a@" + domain)?.sent.utf8.count == 254)
        #expect(CustomerEmail("   a@" + domain + "   ")?.sent.utf8.count == 254, "the space around it does not count")
        #expect(CustomerEmail("a@d" + domain) == nil)
        // The limit counts bytes, not characters.
        #expect(CustomerEmail("a@" + String(repeating: "é", count: 126)) != nil)
        #expect(CustomerEmail("a@" + String(repeating: "é", count: 127)) == nil)
        #expect(CustomerEmail(String(repeating: "a@", count: 5_000_000)) == nil)
    }

    @Test func theSideBeforeTheAtSignHas64BytesAtMost() {
        #expect(CustomerEmail(String(repeating: "a", count: 64) + "@b") != nil)
        #expect(CustomerEmail(String(repeating: "a", count: 65) + "@b") == nil)
    }

    @Test(arguments: ["", "x", "x y", "é\u{301}"]) func trimmingTakesNothingFromTheInside(text: String) {
        #expect(text.trimmingSpace() == text)
        #expect((" \t\n" + text + "\0\r\u{3000} ").trimmingSpace() == text)
    }
}
