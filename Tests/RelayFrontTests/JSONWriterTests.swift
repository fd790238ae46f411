import Foundation
import NIOCore
import RelayCore
import Testing

@testable import RelayFront

@Suite("JSON out")
struct JSONWriterTests {
    @Test("any text survives the way out and back")
    func texts() throws {
        let texts = [
            "", "plain", "\"\\/", "\u{0}\u{1}\u{1f}\n\r\t\u{7f}", "ü 😀 \u{2028}", String(repeating: "x\"", count: 999),
        ]
        for text in texts {
            var writer = JSONWriter(capacity: 0)
            writer.beginObject()
            writer.field("text", text)
            writer.endObject()
            let read = try JSONDecoder().decode([String: String].self, from: Data(writer.buffer.readableBytesView))
            #expect(read == ["text": text])
        }
    }

    @Test("commas stand between, whatever is nested")
    func nesting() {
        var writer = JSONWriter(capacity: 0)
        writer.beginObject()
        writer.beginArray("empty")
        writer.endArray()
        writer.field("a", 1)
        writer.beginArray("list")
        writer.beginObject()
        writer.field("b", true)
        writer.endObject()
        writer.beginObject()
        writer.endObject()
        writer.element("c")
        writer.endArray()
        writer.field("d", nil as String?)
        writer.field("e", json: #"{"f":[]}"#)
        writer.endObject()
        #expect(
            String(buffer: writer.buffer) == #"{"empty":[],"a":1,"list":[{"b":true},{},"c"],"d":null,"e":{"f":[]}}"#)
    }

    @Test("a poll's answer has the contract's fields, in its order")
    func poll() {
        let validation = Fixtures.validation(status: .granted, settledAt: Timestamp(seconds: 1_700_000_030), late: true)
        #expect(
            String(buffer: validation.pollJSON)
                == #"{"validationId":"074b2400000000000000010000000000000002","status":"granted","accessGranted":true,"#
                + #""offerId":"S1_US","reason":null,"receivedAt":"2023-11-14T22:13:20.000Z","#
                + #""settledAt":"2023-11-14T22:13:50.000Z","deadline":"2023-11-14T22:14:20.000Z","late":true,"expiresAt":null}"#
        )
    }
}
