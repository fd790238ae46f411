import NIOCore
import OutboundHTTP
import RelayCore
import StoreAPI
import Testing

@testable import GooglePlay

@Suite("A subscription with add-ons") struct AddOnTests {
    private static let name = SubscriptionName(
        publisher: "main", environment: "Production", originalTransactionID: "google:token-2")
    private static let day = Duration.seconds(86_400)
    private static let leeway = Duration.seconds(3_600)
    private static let catalogue: [ProductID: [OfferID]] = ["gold": ["offer-gold"], "extra": ["offer-extra"]]

    /// Google's answer, read `day` days after ``readAt``, with the day on which each product ends.
    private func word(_ ends: KeyValuePairs<String, Int64>, onDay day: Int64 = 0, state: String = "ACTIVE") throws
        -> LedgerStatement
    {
        let items = ends.map { product, end in
            #"{"productId":"\#(product)","expiryTime":"\#((readAt + Self.day * end).rfc3339)","#
                + #""autoRenewingPlan":{"autoRenewEnabled":true},"latestSuccessfulOrderId":"GPA.1"}"#
        }
        let text =
            #"{"subscriptionState":"SUBSCRIPTION_STATE_\#(state)","startTime":"2026-08-22T10:00:00Z","#
            + #""lineItems":[\#(items.joined(separator: ","))]}"#
        let json = try #require(JSONValue(.init(string: text)))
        let found = StoreSubscription(google: json, token: "token-2", readAt: readAt + Self.day * day)
        return try #require(found?.ledgerStatement)
    }

    private func ledger(_ words: [LedgerStatement]) -> SubscriptionLedger {
        var ledger = SubscriptionLedger()
        for word in words { ledger.apply(word) }
        ledger.apply(LedgerStatement(granted: LedgerGrant(offer: "offer-gold", at: readAt)))
        ledger.setOffers(Self.catalogue)
        return ledger
    }

    private func purchases(_ words: [LedgerStatement], onDay day: Int64) -> [ProductID: CustomerPurchase] {
        let all = ledger(words).purchases(
            of: Self.name, shown: .active, at: readAt + Self.day * day, leeway: Self.leeway)
        return Dictionary(all.map { ($0.productID, $0) }) { one, _ in one }
    }

    private func verdicts(_ words: [LedgerStatement], onDay day: Int64) -> [OfferID: AccessVerdict] {
        SubscriptionAccess(
            ledger(words), granted: ["offer-gold", "offer-extra"], at: readAt + Self.day * day, leeway: Self.leeway
        ).verdicts
    }

    @Test("each item is expired by its own date, and replaces no other")
    func ownDates() throws {
        let words = [try word(["gold": 30, "extra": 10])]
        let running = purchases(words, onDay: 5)
        for (product, end) in [("gold", 30), ("extra", 10)] as [(ProductID, Int64)] {
            let purchase = try #require(running[product])
            #expect(!purchase.isExpired && purchase.cancelationReason == nil)
            #expect(purchase.expiresAt == readAt + Self.day * end)
        }
        let later = purchases(words, onDay: 20)
        let extra = try #require(later["extra"])
        #expect(extra.isExpired && extra.cancelationReason == .unknown && later["gold"]?.isExpired == false)
    }

    @Test("each item opens the offer of its product until its own end")
    func offers() throws {
        let words = [try word(["gold": 30, "extra": 10])]
        #expect(verdicts(words, onDay: 5)["offer-gold"] == .goesOn(expiresAt: readAt + Self.day * 30))
        #expect(verdicts(words, onDay: 5)["offer-extra"] == .goesOn(expiresAt: readAt + Self.day * 10))
        // No statement says yet whether the product was renewed.
        #expect(verdicts(words, onDay: 11)["offer-extra"] == nil)
        let ended = words + [try word(["gold": 30, "extra": 10], onDay: 11)]
        #expect(verdicts(ended, onDay: 12)["offer-extra"] == .ends(reason: "expired"))
        #expect(verdicts(ended, onDay: 12)["offer-gold"] == .goesOn(expiresAt: readAt + Self.day * 30))
    }

    @Test(
        "a removed item remains as expired, even if it would have run longest",
        arguments: [10, 60] as [Int64])
    func removed(end: Int64) throws {
        let words = [try word(["gold": 30, "extra": end]), try word(["gold": 30], onDay: 3)]
        for words in [words, words.reversed()] {
            let shown = purchases(words, onDay: 5)
            let extra = try #require(shown["extra"])
            #expect(extra.isExpired && extra.cancelationReason == .unknown)
            #expect(extra.expiresAt == readAt + Self.day * 3)
            #expect(shown["gold"]?.isExpired == false)
            #expect(verdicts(words, onDay: 5)["offer-extra"] == .ends(reason: "expired"))
            #expect(verdicts(words, onDay: 5)["offer-gold"] == .goesOn(expiresAt: readAt + Self.day * 30))
        }
    }

    @Test("a period that a purchase brings alone removes no other item")
    func alone() throws {
        let whole = try word(["gold": 30, "extra": 20])
        let first = try #require(try word(["gold": 30, "extra": 20], onDay: 3).periods.first)
        let shown = purchases([whole, LedgerStatement(periods: [first])], onDay: 5)
        #expect(shown["gold"]?.isExpired == false && shown["extra"]?.isExpired == false)
    }

    @Test(
        "items that end together share grace, billing retry and the end",
        arguments: ["IN_GRACE_PERIOD", "ON_HOLD", "EXPIRED"])
    func shared(state: String) throws {
        let words = [
            try word(["gold": 30, "extra": 30]), try word(["gold": 37, "extra": 37], onDay: 31, state: state),
        ]
        let shown = purchases(words, onDay: 32)
        let verdicts = verdicts(words, onDay: 32)
        for product in ["gold", "extra"] as [ProductID] {
            #expect(shown[product]?.isExpired == (state != "IN_GRACE_PERIOD"), "\(product)")
        }
        #expect(verdicts["offer-gold"] == verdicts["offer-extra"] && verdicts["offer-gold"] != nil)
    }
}
