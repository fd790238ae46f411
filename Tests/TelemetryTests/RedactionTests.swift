import Logging
import Telemetry
import Testing

struct RedactionTests {
    @Test(arguments: [
        ("ana@example.test", "a***@example.test"), ("a@b.c", "a***@b.c"), ("@example.test", "***@example.test"),
        ("no-at-sign", "***"), ("", "***"), ("a@b@evil.test", "a***@evil.test"),
        ("émile@exämple.test", "é***@exämple.test"),
        ("\n@x\u{0}\r\n.test", "****@x???.test"), ("\u{202e}a@x.test", "****@x.test"),
        ("\"quoted\"@x.test", "****@x.test"),
    ])
    func onlyTheFirstCharacterOfTheLocalPartRemains(email: String, shortened: String) {
        #expect(Redaction.shortened(email: email) == shortened)
        #expect(email.shortenedAsEmail() == shortened)
    }

    @Test func absurdInputsBecomeShort() {
        let zalgo = "a" + String(repeating: "\u{301}", count: 10_000) + "@" + String(repeating: "d", count: 10_000)
        let shortened = zalgo.shortenedAsEmail()
        #expect(shortened == "a***@" + String(repeating: "d", count: 64) + "…")
    }

    @Test func theCustomerKeyNeverHoldsAWholeEmail() {
        #expect(Logger.MetadataValue.customer("ana@example.test") == "a***@example.test")
    }
}
