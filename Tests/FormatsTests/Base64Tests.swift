import Formats
import Testing

struct Base64Tests {
    @Test("a JWS may use only its own alphabet")
    func strict() {
        for text in ["AA==", "AA ", "A+/A", "AA\nAA", "A", "AB"] {
            #expect(Base64.decode(Array(text.utf8), .urlSafe) == nil)
        }
        #expect(Base64.decode(Array("-_-_".utf8), .urlSafe) == [0xFB, 0xFF, 0xBF])
        #expect(Base64.decode([] as [UInt8], .urlSafe) == [])
    }
}
