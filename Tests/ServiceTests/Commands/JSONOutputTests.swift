import Foundation
import Testing

@testable import ReceiptRelay

/// Output of `--json` on a terminal. Texts in it come from apps, stores and Cleeng.
@Suite struct JSONOutputTests {
    @Test(arguments: [
        "\u{9B}31m", "\u{7F}", "\u{85}", "\u{2028}", "\u{202E}abc", "\u{2066}", "\u{E0001}", "é\t\u{1B}[0m",
    ])
    func whatATerminalInterpretsIsWrittenByItsNumber(text: String) throws {
        let json = String(decoding: try JSONSerialization.data(withJSONObject: ["a": text]), as: UTF8.self)
        let shown = JSONOutput.escaped(json)
        #expect(shown.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        #expect(!shown.unicodeScalars.contains { $0.properties.generalCategory == .format })
        let read = try JSONSerialization.jsonObject(with: Data(shown.utf8)) as? [String: String]
        #expect(read == ["a": text])
    }

    @Test func whatIsSafeStaysAsItIs() {
        let json = "{\n  \"a\" : \"é, 日本, 🙂\"\n}"
        #expect(JSONOutput.escaped(json) == json)
    }
}
