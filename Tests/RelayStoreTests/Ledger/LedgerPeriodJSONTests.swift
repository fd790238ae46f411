import RelayCore
import TestSupport
import Testing

@testable import RelayStore

/// What is written by hand is what the encoder writes, and reads back as it was.
struct LedgerPeriodJSONTests {
    private static let texts = [
        "1", "2000000123456789", "com.example.month", "", "a\"b\\c/d", "\u{0}\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \u{7f}",
        "größer 📺 \u{2028}", "e\u{301}",
    ]

    @Test(arguments: 0..<200 as Range<UInt64>) func bothAreTheSame(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        func moment() -> Timestamp {
            Timestamp(microseconds: Int64.random(in: 0...4_102_444_800_000_000, using: &generator))
        }
        func text() -> String { Self.texts.randomElement(using: &generator) ?? "" }
        let kind = LedgerPeriod.Revocation.Kind.allCases.randomElement(using: &generator) ?? .refunded
        let period = LedgerPeriod(
            id: text(), productID: text(), purchasedAt: moment(),
            expiresAt: Bool.random(using: &generator) ? moment() : nil,
            revocation: Bool.random(using: &generator) ? .init(at: moment(), kind: kind) : nil,
            isUpgraded: Bool.random(using: &generator), replacesEarlier: Bool.random(using: &generator),
            toldAt: moment())
        #expect(period.json == LedgerJSON.text(period))
        #expect(try LedgerJSON.value(LedgerPeriod.self, period.json, column: "period") == period)
    }
}
