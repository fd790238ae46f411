import Formats
import Foundation
import Testing

struct JSONWriterTests {
    @Test(arguments: [JSONEscapes.letters, .lines, .numbers])
    func anyTextIsWrittenAndReadUnchanged(escapes: JSONEscapes) throws {
        let texts = [
            "", "plain", "\"\\/", "\u{0}\u{1}\u{8}\u{c}\u{1f}\n\r\t\u{7f}", "ü 😀 \u{2028}",
            String(repeating: "x\"", count: 999),
        ]
        for text in texts {
            var writer = JSONWriter(capacity: 0, escapes: escapes)
            writer.beginObject()
            writer.field("text", text)
            writer.endObject()
            let read = try JSONDecoder().decode([String: String].self, from: Data(writer.bytes))
            #expect(read == ["text": text])
        }
    }

    @Test func escapesAlwaysHaveTheSameForm() {
        func written(_ escapes: JSONEscapes) -> String {
            var writer = JSONWriter(escapes: escapes)
            writer.value("\u{0}\u{8}\t\n\u{c}\r\u{1f}\"\\/\u{7f}")
            return writer.text
        }
        #expect(written(.letters) == #""\u0000\b\t\n\f\r\u001f\"\\/"# + "\u{7f}\"")
        #expect(written(.lines) == #""\u0000\u0008\t\n\u000c\r\u001f\"\\/"# + "\u{7f}\"")
        #expect(written(.numbers) == #""\u0000\u0008\u0009\u000a\u000c\u000d\u001f\"\\/"# + "\u{7f}\"")
    }

    @Test func commasSeparateNestedValues() {
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
        writer.value("c")
        writer.endArray()
        writer.field("d", nil as String?)
        writer.member("left out", nil as Int?)
        writer.field("e", json: #"{"f":[]}"#)
        writer.name("g\"" as String)
        writer.beginArray()
        writer.value(2)
        writer.null()
        writer.value(millisecondsSince1970: 0)
        writer.endArray()
        writer.endObject()
        #expect(
            writer.text == #"{"empty":[],"a":1,"list":[{"b":true},{},"c"],"d":null,"e":{"f":[]},"#
                + #""g\"":[2,null,"1970-01-01T00:00:00.000Z"]}"#)
    }
}
