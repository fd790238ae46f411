import RelayCore
import StoreAPI
import Testing

@testable import GooglePlay

/// The table of docs/stores.md, row by row.
@Suite struct MappingTests {
    private static let paid = "GPA.1111-2222-3333-44444..0"

    @Test func aSubscriptionAsDocumentedIsReadWhole() throws {
        let found = try read(
            subscription(
                more: #""linkedPurchaseToken":"token-1","testPurchase":{},"#,
                item: #""offerPhase":{"introductoryPrice":{}},"deferredItemReplacement":{"productId":"silver"},"#))
        #expect(found.key == "token-2" && found.previousKey == "token-1")
        #expect(found.ledgerKey == "google:token-2" && found.environment == "Sandbox" && found.isTest)
        #expect(found.productID == "gold" && found.mainItem?.orderID?.text == Self.paid)
        #expect(found.mainItem?.offerID == "welcome" && found.mainItem?.planID == "monthly")
        #expect(found.isTrial == false && found.mainItem?.isIntro == true)
        #expect(found.firstPurchasedAt == Timestamp(rfc3339: "2026-08-22T10:00:00.123456Z"))
        #expect(found.expiresAt == Timestamp(rfc3339: "2026-10-22T10:00:00Z"))
        let word = try #require(found.ledgerStatement)
        #expect(word.movesFrom == ["google:token-1"] && word.movedAt == readAt && word.isCurrentAt == nil)
        #expect(word.periods.map(\.id.text) == [Self.paid] && word.periods.map(\.planID) == ["gold:monthly"])
        #expect(word.renewal?.productID == "silver" && word.renewal?.willRenew == true)
        #expect(word.end == LedgerEnd(isOver: false, until: found.expiresAt, statedAt: readAt))
    }

    /// Signed up again in the Play Store, after the end.
    @Test func theExpiredTokenIsTheEarlierOne() throws {
        let context = #"""
            "outOfAppPurchaseContext":{"expiredPurchaseToken":"token-0",
            "expiredExternalAccountIdentifiers":{"obfuscatedExternalAccountId":"ana"}},
            """#
        let account = #""externalAccountIdentifiers":{"obfuscatedExternalAccountId":"user-7"},"#
        let found = try read(subscription(more: context).replacing(account, with: ""))
        #expect(found.previousKey == "token-0" && found.accountToken == "ana")
        let linked = try read(subscription(more: context + #""linkedPurchaseToken":"token-1","#))
        #expect(linked.previousKey == "token-1")
    }

    @Test(
        arguments: [
            (#""userInitiatedCancellation":{"cancelTime":"2026-09-01T00:00:00Z"}"#, "Customer"),
            (
                #""userInitiatedCancellation":{"cancelSurveyResult":{"reason":"CANCEL_SURVEY_REASON_NOT_ENOUGH_USAGE"}}"#,
                "Customer.NotUsefulEnough"
            ),
            (
                #""userInitiatedCancellation":{"cancelSurveyResult":{"reason":"CANCEL_SURVEY_REASON_TECHNICAL_ISSUES"}}"#,
                "Customer.TechnicalIssues"
            ),
            (
                #""userInitiatedCancellation":{"cancelSurveyResult":{"reason":"CANCEL_SURVEY_REASON_COST_RELATED"}}"#,
                "Customer.Cost"
            ),
            (
                #""userInitiatedCancellation":{"cancelSurveyResult":{"reason":"CANCEL_SURVEY_REASON_FOUND_BETTER_APP"}}"#,
                "Customer.FoundBetterApp"
            ),
            (
                #""userInitiatedCancellation":{"cancelSurveyResult":{"reason":"CANCEL_SURVEY_REASON_OTHERS"}}"#,
                "Customer.OtherReason"
            ),
            (#""userInitiatedCancellation":{"cancelSurveyResult":{"reason":"CANCEL_SURVEY_REASON_NEW"}}"#, "Customer"),
            (#""systemInitiatedCancellation":{}"#, "System"), (#""developerInitiatedCancellation":{}"#, "Developer"),
            (#""replacementCancellation":{}"#, "System.Replaced"), (#""newCancellation":{}"#, "Unknown"),
            ("", "Unknown"),
        ])
    func eachCancellationHasFoveasWord(context: String, word: String) throws {
        for state in ["CANCELED", "EXPIRED"] {
            let found = try read(
                subscription(
                    state: state, plan: #""autoRenewingPlan":{}"#, more: "\"canceledStateContext\":{\(context)},"))
            #expect(found.cancellation?.reason.rawValue == word)
            #expect(found.renewalIntent == "Lapse")
            #expect(
                found.renewalIntentChangedAt
                    == (context.contains("cancelTime") ? Timestamp(rfc3339: "2026-09-01T00:00:00Z") : nil))
            #expect(found.ledgerStatement?.renewal?.willRenew == false)
        }
    }

    struct Row: Sendable {
        var state: String
        var expiry = "2026-10-22T10:00:00Z"
        var known: StoreState
        /// Nil if the answer enters no ledger.
        var status: SubscriptionState.Status?
        var intent: String?
        var word = ""
    }

    /// `readAt` is 2026-09-21.
    @Test(
        arguments: [
            Row(state: "PENDING", known: .pending, status: nil, intent: nil),
            Row(state: "PENDING_PURCHASE_CANCELED", known: .pendingCanceled, status: nil, intent: nil),
            Row(state: "ACTIVE", known: .active, status: .active, intent: "Renew"),
            Row(state: "IN_GRACE_PERIOD", known: .inGrace, status: .inGrace, intent: "Renew"),
            Row(
                state: "ON_HOLD", expiry: "2026-09-20T00:00:00Z", known: .onHold, status: .inBillingRetry,
                intent: "Renew"),
            // The state decides, whatever the date is.
            Row(state: "ON_HOLD", known: .onHold, status: .inBillingRetry, intent: "Renew"),
            Row(state: "PAUSED", expiry: "2026-09-20T00:00:00Z", known: .paused, status: .expired, intent: "Renew"),
            Row(state: "CANCELED", known: .canceled, status: .active, intent: "Lapse", word: "Unknown"),
            Row(
                state: "EXPIRED", expiry: "2026-09-20T00:00:00Z", known: .expired, status: .expired, intent: "Lapse",
                word: "Unknown"),
            Row(state: "REVOKED", known: .revoked, status: .revoked, intent: "Lapse", word: "Unknown"),
            Row(state: "SOMETHING_NEW", known: .unknown, status: .active, intent: "Renew"),
        ])
    func eachStateHasAStatusInTheLedger(row: Row) throws {
        let found = try read(subscription(state: row.state, expiry: row.expiry))
        #expect(found.state == row.known)
        #expect(found.renewalIntent == row.intent)
        #expect(found.cancellation?.reason.rawValue ?? "" == row.word)
        #expect(found.isInBillingRetry == (row.known == .inGrace || row.known == .onHold))
        let state = found.ledgerStatement.flatMap { word in
            var ledger = SubscriptionLedger()
            ledger.apply(word)
            return ledger.state(at: readAt + .seconds(60), leeway: .seconds(3_600))
        }
        #expect(state?.status == row.status)
        if row.known == .paused { #expect(state?.access == .ends(reason: "expired")) }
        if row.known == .inGrace { #expect(state?.access == .goesOn(expiresAt: found.expiresAt)) }
    }

    @Test func aLifeInAnyOrderMakesTheSameLedger() throws {
        let early = Timestamp(rfc3339: "2026-09-01T00:00:00Z")
        var paused = try read(subscription(state: "PAUSED", expiry: "2026-08-30T00:00:00Z"))
        paused.readAt = try #require(early)
        let resumed = try read(subscription())
        for words in [[paused, resumed], [resumed, paused]] {
            var ledger = SubscriptionLedger()
            for word in words.compactMap(\.ledgerStatement) { ledger.apply(word) }
            let state = ledger.state(at: readAt + .seconds(1), leeway: .seconds(3_600))
            #expect(state?.status == .active)
            #expect(state?.expiresAt == resumed.expiresAt)
        }
    }

    @Test func anUnpaidPurchaseReplacesNone() throws {
        let found = try read(subscription(state: "PENDING", more: #""linkedPurchaseToken":"token-1","#, start: nil))
        #expect(found.previousKey == nil && found.ledgerStatement == nil)
    }

    @Test(
        arguments: [
            (#""autoRenewingPlan":{"autoRenewEnabled":true}"#, true, "Renew"),
            (#""autoRenewingPlan":{}"#, false, "Lapse"),
            (#""prepaidPlan":{"allowExtendAfterTime":"2026-10-01T00:00:00Z"}"#, false, "Lapse"),
            (#""newPlan":{}"#, nil, nil),
        ] as [(String, Bool?, String?)])
    func omittedFieldsAreFalseAndNewOnesUnknown(plan: String, renews: Bool?, intent: String?) throws {
        let found = try read(subscription(plan: plan))
        #expect(found.autoRenews == renews)
        #expect(found.renewalIntent == intent)
        #expect(found.ledgerStatement?.renewal?.willRenew == renews)
    }

    @Test(
        arguments: [
            (#"{"priceChangeMode":"PRICE_INCREASE","priceChangeState":"OUTSTANDING"}"#, false),
            (#"{"priceChangeMode":"PRICE_INCREASE","priceChangeState":"CONFIRMED"}"#, true),
            (#"{"priceChangeMode":"PRICE_INCREASE","priceChangeState":"APPLIED"}"#, nil),
            (#"{"priceChangeMode":"OPT_OUT_PRICE_INCREASE","priceChangeState":"OUTSTANDING"}"#, nil),
        ] as [(String, Bool?)])
    func aHigherPriceIsAgreedToOrNot(change: String, isAgreed: Bool?) throws {
        let plan = #""autoRenewingPlan":{"autoRenewEnabled":true,"priceChangeDetails":\#(change)}"#
        #expect(try read(subscription(plan: plan)).mainItem?.hasAgreedToPrice == isAgreed)
    }

    @Test func fieldsThatAreNotWhatTheyShouldBeAreNotThere() throws {
        let found = try read(
            #"{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":12,"testPurchase":null,"lineItems":[5,{},"#
                + #"{"productId":"gold","expiryTime":"soon","offerDetails":[{}],"autoRenewingPlan":[]}],"#
                + #""latestOrderId":{},"linkedPurchaseToken":["a"],"canceledStateContext":"x"}"#)
        #expect(found.items.map(\.productID) == ["gold"])
        #expect(found.expiresAt == nil && found.mainItem?.orderID == nil && !found.isTest && found.previousKey == nil)
        #expect(found.state == .active)
        // An unknown end must not become access without an end.
        #expect(found.ledgerStatement == nil)
    }

    @Test func productsOfOneOrderAreSeveralPeriods() throws {
        let found = try read(
            #"{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"2026-08-22T10:00:00Z","lineItems":["#
                + #"{"productId":"extra","expiryTime":"2026-10-01T10:00:00Z","latestSuccessfulOrderId":"GPA.1"},"#
                + #"{"productId":"gold","expiryTime":"2026-11-01T10:00:00Z","latestSuccessfulOrderId":"GPA.1"}]}"#)
        #expect(found.productID == "gold")
        #expect(found.ledgerStatement?.periods.map(\.id) == ["GPA.1:extra", "GPA.1:gold"])
    }
}
