import Formats
import Testing

@Suite("Names of members in a JSON text") struct JSONNamesTests {
    private func areShort(_ text: String) -> Bool { JSONNames.areShort(in: text.utf8) }

    @Test("a long value is no long name")
    func values() {
        let long = String(repeating: "x", count: 1_000)
        #expect(areShort(#"{"a":"\#(long)","b":["\#(long)"],"c":1}"#))
        #expect(areShort(#"{"a":"\#(long)\":","b":1}"#))
        #expect(areShort("") && areShort("\"") && areShort(#"{"\"#))
    }

    @Test(
        "a long name is found at any depth, with spaces before its colon, and with escapes",
        arguments: ["", " \n\t"])
    func names(space: String) {
        let longest = String(repeating: "x", count: JSONNames.longest)
        #expect(areShort(#"{"\#(longest)"\#(space):1}"#))
        #expect(!areShort(#"{"\#(longest)x"\#(space):1}"#))
        #expect(!areShort(#"{"a":[{"b":{"\#(longest)\""\#(space):1}}]}"#))
    }
}
