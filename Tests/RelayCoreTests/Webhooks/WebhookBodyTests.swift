import RelayCore
import Testing

@Suite("Message bodies and signatures")
struct WebhookBodyTests {
    private static let stored = #"{"type":"purchases.updated","applicationUsername":"u","purchases":{}}"#

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test("the password follows the type, and is omitted if none is set")
    func password() {
        #expect(
            text(WebhookBody.whole(Self.stored, password: "s3cr3t"))
                == #"{"type":"purchases.updated","password":"s3cr3t","applicationUsername":"u","purchases":{}}"#)
        #expect(text(WebhookBody.whole(Self.stored, password: nil)) == Self.stored)
        #expect(text(WebhookBody.whole(#"{"EventType":"x"}"#, password: "s")) == #"{"EventType":"x"}"#)
        #expect(text(WebhookBody.test(password: "s")) == #"{"type":"test","password":"s"}"#)
        #expect(text(WebhookBody.test(password: nil)) == #"{"type":"test"}"#)
    }

    @Test("any password stays within its quotes")
    func escapes() {
        #expect(
            text(WebhookBody.test(password: "a\"b\\c\u{1}ü\n")) == #"{"type":"test","password":"a\"b\\c\u0001ü\n"}"#
        )
    }

    @Test("one id is one body: another password is another id")
    func mark() {
        let (one, other) = (BodyMark(number: 7), BodyMark(number: 255))
        #expect(one.messageID("abc", first: one) == "abc")
        #expect(other.messageID("abc", first: one) == "abc.ff")
        #expect(one.messageID("abc", first: other) == "abc.7")
    }

    @Test("the signature is over id, second and body")
    func content() {
        let message = WebhookMessage(id: "msg", body: Array("{}".utf8))
        #expect(text(message.signedContent(secondsSince1970: 1_700_000_000)) == "msg.1700000000.{}")
    }

    @Test("an endpoint's id is 24 hexadecimal digits, and another one each time")
    func ids() {
        var generator = SystemRandomNumberGenerator()
        let ids = Set((0..<100).map { _ in EndpointID(using: &generator) })
        #expect(ids.count == 100)
        #expect(ids.allSatisfy { $0.description.wholeMatch(of: /[0-9a-f]{24}/) != nil })
        #expect(EndpointID("ABCDEF0123456789abcdef01")?.description == "abcdef0123456789abcdef01")
        for text in ["", "abcdef0123456789abcdef0", "abcdef0123456789abcdef012", "gbcdef0123456789abcdef01"] {
            #expect(EndpointID(text) == nil)
        }
    }
}
