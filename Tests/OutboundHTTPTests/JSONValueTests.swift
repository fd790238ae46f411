import NIOCore
import OutboundHTTP
import Testing

struct JSONValueTests {
    private func value(_ text: String) -> JSONValue? { JSONValue(ByteBuffer(string: text)) }

    @Test func whatIsNoJSONIsNothing() {
        for text in ["", "{", "nonsense", #"{"a":"# + String(repeating: "[", count: 100_000)] {
            #expect(value(text) == nil)
        }
        #expect(JSONValue(nil) == nil)
    }

    @Test func whatIsNestedTooDeepIsNull() {
        var next = value(String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40))
        var depth = 0
        while let inner = next?["a"] { (next, depth) = (inner, depth + 1) }
        #expect((8..<20).contains(depth))
    }

    @Test func fieldsAreReadInTheRequestedType() throws {
        let json = try #require(
            value(
                #"{"text":"t","empty":"","number":9007199254740993,"whole":5.0,"half":5.5,"digits":"12","flag":true,"#
                    + #""null":null,"list":[1,"x"],"object":{"a":1}}"#))
        #expect(json["text"]?.text == "t" && json["empty"]?.text == nil && json["empty"]?.string == "")
        #expect(json["number"]?.integer == 9_007_199_254_740_993 && json["number"]?.scalarText == "9007199254740993")
        #expect(json["whole"]?.integer == 5 && json["half"]?.integer == nil && json["digits"]?.integer == 12)
        #expect(json["half"]?.scalarText == "5.5")
        #expect(json["flag"]?.flag == true && json["text"]?.flag == nil)
        #expect(json["null"] == nil && json["missing"] == nil)
        #expect(json["list"]?.list == [.number("1"), .text("x")] && json["text"]?.list == nil)
        #expect(json["object"]?.isObject == true && json["list"]?.isObject == false)
        #expect(value(#""x""#)?["a"] == nil)
        let long = String(repeating: "x", count: 8_193)
        #expect(JSONValue.text(long).text == nil && JSONValue.text(long).string == long)
    }
}
