import Foundation
import NIOCore
import Testing

@testable import HTTPServer

@Suite("Reading JSON")
struct JSONScannerTests {
    private func string(_ json: String) -> String? {
        var json = json
        return json.withUTF8 { utf8 in
            var scanner = JSONScanner(UnsafeRawBufferPointer(utf8))
            guard let text = try? scanner.string(), (try? scanner.end()) != nil else { return nil }
            return text
        }
    }

    private func isJSON(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var scanner = JSONScanner(bytes)
            return (try? scanner.skip(depth: 1)) != nil && (try? scanner.end()) != nil
        }
    }

    @Test(
        "valid JSON is accepted",
        arguments: [
            "{}", " [ ] ", "null", "true", "false", "0", "-0", "-1.5e+10", "1E2", "\"\"", "[1,2,{\"a\":[null]}]",
            "\t\r\n{\"a\" : \"b\" , \"c\":[ ]}", "123456789012345678901234567890",
        ])
    func good(_ json: String) {
        #expect(JSONScanner.isJSON(json))
    }

    @Test(
        "invalid JSON is refused",
        arguments: [
            "", " ", "{", "[", "{\"a\"}", "{\"a\":}", "{a:1}", "[1,]", "{\"a\":1,}", "[1 2]", "01", "-", "1.", ".5",
            "1e", "+1",
            "nul", "True", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"",
            "\"a\nb\"",
            "{} {}", "[1]]", "NaN", "Infinity", "'a'", "/* */ 1", "\u{feff}{}",
        ])
    func bad(_ json: String) {
        #expect(!JSONScanner.isJSON(json))
    }

    @Test("every prefix of a document is refused")
    func truncated() {
        let json = #"{"a":"b\n\u00e9","c":[1.5,true,null,{"d":"ü"}]}"#
        #expect(JSONScanner.isJSON(json))
        let bytes = Array(json.utf8)
        for length in 0..<bytes.count { #expect(!isJSON(Array(bytes.prefix(length))), "\(length) bytes") }
    }

    @Test("text that is not UTF-8 is refused, with and without escapes beside it")
    func invalidUTF8() {
        #expect(isJSON(Array("\"\u{e9}\"".utf8)))
        #expect(!isJSON([0x22, 0xff, 0x22]))
        #expect(!isJSON([0x22, 0x5c, 0x6e, 0xc3, 0x22]))
        #expect(!isJSON([0x22, 0xed, 0xa0, 0x80, 0x22]))
    }

    @Test(
        "a refused body gets the reason",
        arguments: [
            ("{\"a\":1,}", "stops being JSON in UTF-8 at byte 7"),
            ("{\"a\":\"\\ud800\"}", "half of a pair of surrogates"),
            ("{\"a\":\"\\udc00x\"}", "half of a pair of surrogates"),
            ("{\"a\":" + String(repeating: "[", count: 64) + "1", "more than 64 levels deep"),
        ])
    func reasons(_ body: String, _ words: String) {
        let problem = #expect(throws: Problem.self) {
            try JSONScanner.readObject(ByteBuffer(string: body)) { (scanner, _) throws(JSONSyntaxError) in
                try scanner.skip(depth: 2)
            }
        }
        #expect(problem?.code == .notJSON && problem?.detail.contains(words) == true, "\(problem?.detail ?? "taken")")
    }

    @Test("depth is bounded, at exactly the bound")
    func depth() {
        let most = JSONScanner.maximumDepth
        #expect(JSONScanner.isJSON(String(repeating: "[", count: most) + String(repeating: "]", count: most)))
        #expect(!JSONScanner.isJSON(String(repeating: "[", count: most + 1) + String(repeating: "]", count: most + 1)))
        #expect(!JSONScanner.isJSON(String(repeating: "{\"a\":", count: 100_000)))
    }

    @Test(
        "strings are unescaped as Foundation does it",
        arguments: [
            #""plain""#, #""a\/b\\c\"d""#, #""\b\f\n\r\t""#, #""\u00e9\u4e2d""#, #""\ud83d\ude00 and \uD83D\uDE00""#,
            #""ü\n😀""#,
            #""\u0000""#,
        ])
    func unescaped(_ json: String) throws {
        #expect(try string(json) == JSONDecoder().decode(String.self, from: Data(json.utf8)))
    }
}
