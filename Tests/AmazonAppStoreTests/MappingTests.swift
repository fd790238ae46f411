import NIOCore
import OutboundHTTP
import RelayCore
import StoreAPI
import Testing

@testable import AmazonAppStore

/// The table of docs/stores.md, row by row. `readAt` is 2026-09-21T14:13:20Z.
@Suite struct MappingTests {
    static let past: Int64 = 1_789_900_000_000
    static let future: Int64 = 1_791_000_000_000

    /// An answer in the documented form of the Receipt Verification Service, with made-up values.
    private func read(type: String = "SUBSCRIPTION", _ fields: String) throws -> StoreSubscription {
        let text =
            #"{"betaProduct":false,"parentProductId":null,"productId":"gold","productType":"\#(type)","quantity":null,"#
            + #""purchaseDate":1780000000000,"receiptId":"r1:3:11","term":"1 Month","termSku":"gold-monthly","#
            + #""countryCode":"US",\#(fields)"testTransaction":true}"#
        let json = try #require(JSONValue(ByteBuffer(string: text)))
        return try #require(StoreSubscription(amazon: json, receiptID: "r1:3:11", readAt: readAt))
    }

    struct Row: Sendable {
        var fields: String
        var known: StoreState
        var status: SubscriptionState.Status
        var intent: String?
        var word = ""
    }

    @Test(
        arguments: [
            Row(
                fields: #""autoRenewing":true,"renewalDate":\#(future),"#, known: .active, status: .active,
                intent: "Renew"),
            Row(
                fields: #""autoRenewing":false,"cancelDate":null,"renewalDate":\#(future),"#, known: .canceled,
                status: .active, intent: "Lapse", word: "Customer"),
            Row(
                fields: #""autoRenewing":true,"renewalDate":\#(past),"gracePeriodEndDate":\#(future),"#,
                known: .inGrace,
                status: .inGrace, intent: "Renew"),
            // The field keeps the end of an earlier grace period.
            Row(
                fields: #""autoRenewing":true,"renewalDate":\#(future),"gracePeriodEndDate":\#(past),"#, known: .active,
                status: .active, intent: "Renew"),
            Row(
                fields: #""autoRenewing":false,"cancelDate":\#(past),"cancelReason":1,"renewalDate":\#(future),"#,
                known: .expired, status: .expired, intent: "Lapse", word: "Customer"),
            Row(
                fields: #""autoRenewing":false,"cancelDate":\#(past),"cancelReason":2,"#, known: .expired,
                status: .expired, intent: "Lapse", word: "System"),
            Row(
                fields: #""autoRenewing":false,"cancelDate":\#(past),"cancelReason":4,"#, known: .expired,
                status: .expired, intent: "Lapse", word: "System.Replaced"),
            Row(
                fields: #""autoRenewing":false,"cancelDate":\#(past),"cancelReason":0,"#, known: .expired,
                status: .expired, intent: "Lapse", word: "Unknown"),
            Row(
                fields: #""autoRenewing":false,"cancelDate":\#(past),"cancelReason":3,"#, known: .expired,
                status: .expired, intent: "Lapse", word: "Unknown"),
            Row(
                fields: #""autoRenewing":false,"cancelDate":\#(past),"cancelReason":null,"#, known: .expired,
                status: .expired, intent: "Lapse", word: "Unknown"),
            Row(
                fields: #""autoRenewing":false,"cancelDate":\#(future),"cancelReason":1,"renewalDate":\#(future),"#,
                known: .canceled, status: .active, intent: "Lapse", word: "Customer"),
        ])
    func theStateFollowsFromTheDates(row: Row) throws {
        let found = try read(row.fields)
        #expect(found.state == row.known)
        #expect(found.renewalIntent == row.intent)
        #expect(found.cancellation?.reason.rawValue ?? "" == row.word)
        #expect(found.environment == "Sandbox" && found.key == "r1:3:11")
        #expect(found.productID == "gold")
        #expect(found.firstPurchasedAt == Timestamp(seconds: 1_780_000_000))
        let word = try #require(found.ledgerStatement)
        #expect(word.periods.map(\.id) == ["r1:3:11"])
        var ledger = SubscriptionLedger()
        ledger.apply(word)
        let state = try #require(ledger.state(at: readAt + .seconds(60), leeway: .seconds(3_600)))
        #expect(state.status == row.status)
        if row.known == .expired { #expect(state.access == .ends(reason: "expired")) }
    }

    @Test func aRenewalMovesTheEndOfTheSamePeriod() throws {
        var first = try read(#""autoRenewing":true,"renewalDate":\#(Self.past),"#)
        first.readAt = Timestamp(seconds: 1_789_000_000)
        let second = try read(#""autoRenewing":true,"renewalDate":\#(Self.future),"#)
        for words in [[first, second], [second, first]] {
            var ledger = SubscriptionLedger()
            for word in words.compactMap(\.ledgerStatement) { ledger.apply(word) }
            #expect(
                ledger.state(at: readAt, leeway: .seconds(1))?.expiresAt == Timestamp(seconds: Self.future / 1_000))
        }
    }

    @Test func inGraceThePaidPeriodEndsAsPaid() throws {
        let found = try read(
            #""autoRenewing":true,"renewalDate":\#(Self.past),"gracePeriodEndDate":\#(Self.future),"#)
        #expect(found.expiresAt == Timestamp(seconds: Self.future / 1_000))
        let word = try #require(found.ledgerStatement)
        #expect(word.periods.first?.expiresAt == Timestamp(seconds: Self.past / 1_000))
        #expect(word.renewal?.graceUntil == found.expiresAt)
        // No statement says how the retries ended: after grace they continue, without access.
        var ledger = SubscriptionLedger()
        ledger.apply(word)
        let after = try #require(found.expiresAt) + .seconds(1)
        #expect(ledger.state(at: after, leeway: .seconds(3_600))?.status == .inBillingRetry)
    }

    @Test func trialsAndIntroductoryPrices() throws {
        #expect(try read(#""renewalDate":\#(Self.future),"freeTrialEndDate":\#(Self.future),"#).isTrial == true)
        #expect(try read(#""renewalDate":\#(Self.future),"freeTrialEndDate":\#(Self.past),"#).isTrial == false)
        #expect(try read(#""renewalDate":\#(Self.future),"#).isTrial == false)
        let intro = #""promotions":[{"promotionType":"Introductory Price - Period","promotionStatus":"STATUS"}],"#
        for (status, isIntro) in [("InProgress", true), ("Completed", false), ("Queued", false)] {
            #expect(try read(intro.replacing("STATUS", with: status)).mainItem?.isIntro == isIntro)
        }
    }

    @Test func aOneTimePurchaseStaysUnlessRevoked() throws {
        let kept = try read(type: "ENTITLED", "")
        #expect(kept.kind == .oneTime && kept.state == .active && kept.renewalIntent == nil)
        #expect(kept.ledgerStatement?.periods.first?.expiresAt == nil)
        let taken = try read(type: "ENTITLED", #""cancelDate":\#(Self.past),"cancelReason":1,"#)
        #expect(taken.state == .revoked && taken.cancellation?.reason == .customer)
        #expect(
            taken.ledgerStatement?.periods.first?.revocation
                == .init(at: Timestamp(seconds: Self.past / 1_000), kind: .refunded, reason: .customer))
        #expect(try read(type: "CONSUMABLE", "").ledgerStatement == nil)
    }

    @Test func fieldsThatAreNotWhatTheyShouldBeAreNotThere() throws {
        let found = try read(
            #""autoRenewing":"yes","renewalDate":"soon","cancelDate":true,"cancelReason":[],"promotions":{},"#)
        #expect(found.state == .active && found.expiresAt == nil && found.renewalIntent == nil)
        // An unknown end must not become access without an end.
        #expect(found.ledgerStatement == nil)
        #expect(try read(type: "NEW_KIND", #""renewalDate":\#(Self.future),"#).kind == .subscription)
    }
}
