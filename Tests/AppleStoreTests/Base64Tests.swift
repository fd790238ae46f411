import Foundation
import TestSupport
import Testing

@testable import AppleStore

@Suite("Base64 is accepted in the forms that apps send")
struct Base64Tests {
    @Test("every length, standard and URL-safe, padded and not, in lines and in one")
    func variants() {
        var generator = SeededGenerator(seed: 1)
        for length in 1...130 {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let standard = base64(bytes)
            let lines = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithCarriageReturn])
            #expect(ReceiptData.decode(standard) == bytes)
            #expect(ReceiptData.decode(standard.replacing("=", with: "")) == bytes)
            #expect(ReceiptData.decode(base64URL(bytes)) == bytes)
            #expect(ReceiptData.decode(lines.replacing("\r", with: "\r\n")) == bytes)
            #expect(ReceiptData.decode(" \n\t" + standard.map { "\($0)" }.joined(separator: "\n") + "\r\n") == bytes)
        }
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", " ", "=", "====", "A", "AAAAA", "AA=", "AAA==", "AAAA=", "AA==A", "AA=A", "A===", "AA==AAAA", "AAAA*",
            "AA\u{0}A", "AAAé", "AAA\u{A0}", "AB==", "AAB=", "AA.A", "MIIC,", "data:;base64,AAAA",
        ])
    func refused(text: String) {
        #expect(ReceiptData.decode(text) == nil)
    }

    @Test("random text never decodes to what Foundation would not decode too")
    func againstFoundation() {
        var generator = SeededGenerator(seed: 2)
        let characters = Array("AQgz09+/=- _\n.!")
        var accepted = 0
        for _ in 0..<5_000 {
            let text = String(
                (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                    characters.randomElement(using: &generator) ?? "A"
                })
            guard let ours = ReceiptData.decode(text) else { continue }
            accepted += 1
            var plain = text.filter { !$0.isWhitespace && $0 != "=" }.replacing("-", with: "+").replacing(
                "_", with: "/")
            while plain.count % 4 != 0 { plain += "=" }
            #expect(Data(base64Encoded: plain).map(Array.init) == ours)
        }
        #expect(accepted > 100)
    }

    @Test("above the limit nothing is decoded")
    func tooLarge() {
        let text = String(repeating: "A", count: ReceiptLimits.textBytes + 4)
        #expect(ReceiptData.decode(text) == nil)
        #expect(readError { _ = try ReceiptData(text) } == .tooLarge)
    }
}
