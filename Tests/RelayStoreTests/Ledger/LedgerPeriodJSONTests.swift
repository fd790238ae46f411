import RelayCore
import TestSupport
import Testing

@testable import Relay

/// The hand-written JSON of one period is the same as the encoder's, and decodes to the original value.
struct LedgerPeriodJSONTests {
    private static let texts = [
        "1", "2000000123456789", "com.example.month", "", "a\"b\\c/d", "\u{0}\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f} \u{7f}",
        "größer 📺 \u{2028}", "e\u{301}",
    ]

    @Test(arguments: 0..<200) func bothAreTheSame(seed: Int) throws {
        let period = period(seed)
        let json = try #require([period].json)
        #expect(json == LedgerJSON.text(period))
        #expect(try [LedgerPeriod](stored: json) == [period])
        // The version before reads a period from the column.
        let several = try #require([period, self.period(seed + 1), self.period(seed + 2)].json)
        #expect(try [LedgerPeriod](stored: several) == [period, self.period(seed + 1), self.period(seed + 2)])
        #expect(try LedgerJSON.value(LedgerPeriod.self, several, column: "period") == period)
    }

    @Test func noPeriodIsNoText() throws {
        #expect([LedgerPeriod]().json == nil)
        #expect(try [LedgerPeriod](stored: nil).isEmpty)
        #expect(throws: StoreError.self) { try [LedgerPeriod](stored: #"{"others":[]}"#) }
    }

    private func period(_ seed: Int) -> LedgerPeriod {
        var generator = SeededGenerator(seed: UInt64(seed))
        func moment() -> Timestamp {
            Timestamp(microseconds: Int64.random(in: 0...4_102_444_800_000_000, using: &generator))
        }
        func text() -> String { Self.texts.randomElement(using: &generator) ?? "" }
        func maybe<T>(_ value: T) -> T? { Bool.random(using: &generator) ? value : nil }
        let kind = LedgerPeriod.Revocation.Kind.allCases.randomElement(using: &generator) ?? .refunded
        var period = LedgerPeriod(
            id: TransactionID(text()), productID: ProductID(text()), purchasedAt: moment(),
            expiresAt: Bool.random(using: &generator) ? moment() : nil,
            revocation: Bool.random(using: &generator)
                ? .init(at: moment(), kind: kind, reason: maybe(CancelationReason.allCases[seed % 14])) : nil,
            isUpgraded: Bool.random(using: &generator), replacesEarlier: Bool.random(using: &generator),
            statedAt: moment(), transactionID: maybe(TransactionID(text())), originalPurchasedAt: maybe(moment()),
            isTrial: maybe(seed.isMultiple(of: 2)), isIntro: maybe(seed.isMultiple(of: 3)),
            discountID: maybe(DiscountID(text())))
        period.storeOffer = StoreOffer(
            identifier: maybe(text()), type: maybe(Int.random(in: 1...4, using: &generator)),
            discountType: maybe(text()))
        period.planID = maybe(ProductID(text()))
        period.renews = maybe(Bool.random(using: &generator))
        return period
    }
}
