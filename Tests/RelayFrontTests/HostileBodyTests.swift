import NIOCore
import RelayCore
import TestRun
import Testing

@testable import HTTPServer
@testable import Relay

/// Bodies that could block an event loop: the work for a name or a text must be at most linear in its length.
@Suite("Hostile bodies")
struct HostileBodyTests {
    /// Swift sorts the marks by insertion in order to compare or hash the text, which takes minutes.
    private static let marks =
        String(repeating: "\u{301}", count: 400_000) + String(repeating: "\u{316}", count: 400_000)

    private static func purchase(before: String = "", appType: String = "ios", inReceipt: String = "") -> String {
        "{\(before)\"customerEmail\":\"ana@example.test\",\"offerId\":\"S1_US\",\"appType\":\"\(appType)\","
            + "\"receipt\":{\(inReceipt)\"transactionId\":\"42\",\"receiptData\":\"YWJj\"}}"
    }

    @Test("of many unknown names only the first are examined")
    func manyNames() throws {
        func warnings(_ count: Int) throws -> [String] {
            let others = (0..<count).map { "\"x\($0)\":1," }.joined()
            return try Fixtures.payment(Self.purchase(before: others + "\"coupon\":\"a\",")).warnings.map(\.field)
        }
        #expect(try warnings(63) == ["coupon"])
        #expect(try warnings(64).isEmpty)
    }

    @Test("long names are skipped", .timeLimit(.paced(minutes: 1)))
    func longNames() throws {
        let name = "\"c\(Self.marks)\":1,"
        let payment = try Fixtures.payment(Self.purchase(before: name, inReceipt: name))
        #expect(payment.transactionID == "42" && payment.warnings.isEmpty)
        let fields = try FieldReader(
            ByteBuffer(string: "{\(name)\"Url\":\"a\"}"), FieldNames(["url"], inAnyCase: true))
        #expect(fields["url"] == .string("a"))
    }

    @Test("long texts in place of a short value are refused", .timeLimit(.paced(minutes: 1)))
    func longTexts() throws {
        #expect(Fixtures.wrong(Self.purchase(appType: "i\(Self.marks)")) == ["appType invalid"])
    }

    @Test("a repeated object is read each time, and the last one counts")
    func repeatedObjects() throws {
        let many = String(repeating: "\"receipt\":{\"transactionId\":\"1\"},", count: 10_000)
        #expect(try Fixtures.payment(Self.purchase(before: many)).transactionID == "42")
        #expect(
            Fixtures.wrong(Self.purchase().dropLast() + ",\"receipt\":{}}") == [
                "receipt.transactionId required", "receipt.receiptData required",
            ])
    }

    @Test("a byte order mark before a body is skipped")
    func byteOrderMark() throws {
        #expect(try Fixtures.payment("\u{feff}" + Self.purchase()).transactionID == "42")
        for wrong in ["\u{feff}", "\u{feff}\u{feff}{}", " \u{feff}{}", "{\u{feff}}"] {
            #expect(throws: Problem(.notJSON, "")) { try Fixtures.payment(wrong) }
        }
    }
}
