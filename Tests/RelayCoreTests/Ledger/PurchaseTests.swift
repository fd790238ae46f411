import RelayCore
import Testing

@testable import RelayCore

@Suite("A subscription in the publisher API")
struct PurchaseTests {
    private static let name = SubscriptionName(
        publisher: "main", environment: "Production", originalTransactionID: "1000")

    private func purchases(_ life: Life, on day: Double, shown: SubscriptionState.Status? = nil)
        -> [CustomerPurchase]
    {
        life.ledger.purchases(of: Self.name, shown: shown, at: Life.day(day), leeway: Life.leeway)
    }

    private func purchase(_ life: Life, on day: Double) throws -> CustomerPurchase {
        let purchases = purchases(life, on: day)
        try #require(purchases.count == 1)
        return purchases[0]
    }

    @Test("one that runs and will renew")
    func active() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        let purchase = try purchase(life, on: 10)
        #expect(!purchase.isExpired && purchase.renewalIntent == .renew && purchase.cancelationReason == nil)
        #expect(purchase.isBillingRetry == false)
        #expect(purchase.purchasedAt == Life.day(0) && purchase.expiresAt == Life.day(30))
    }

    @Test("a subscription renewed before its period ended keeps the renewal's statement")
    func renewedAhead() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        life.told(Life.period("2", from: 30, told: 29), Life.renewal(true, told: 29), on: 29)
        for day in [29.5, 31] {
            let purchase = try purchase(life, on: day)
            #expect(!purchase.isExpired && purchase.renewalIntent == .renew && purchase.expiresAt == Life.day(60))
        }
        // An intent from before the renewal does not apply to that renewal.
        life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(false, told: 20))
        life.told(Life.period("2", from: 30, told: 29), on: 29)
        #expect(try purchase(life, on: 31).renewalIntent == nil)
    }

    @Test("without a statement about renewal, renewal fields are absent")
    func receiptOnly() throws {
        var life = Life()
        life.told(Life.period("1", from: 0))
        let purchase = try purchase(life, on: 10)
        #expect(purchase.renewalIntent == nil && purchase.isBillingRetry == nil && purchase.cancelationReason == nil)
    }

    @Test("one whose renewal the customer turned off runs until its end")
    func lapses() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(false, told: 5))
        let purchase = try purchase(life, on: 10)
        #expect(!purchase.isExpired && purchase.renewalIntent == .lapse && purchase.cancelationReason == .customer)
    }

    @Test(
        "Apple's expiration intent becomes the cancellation reason",
        arguments: [
            (1, CancelationReason.customer), (2, .billingError), (3, .priceIncrease), (4, .productUnavailable),
            (5, .unknown), (99, .unknown),
        ])
    func expired(intent: Int, reason: CancelationReason) throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(false, intent: intent, told: 30), over: true, on: 30)
        let purchase = try purchase(life, on: 31)
        #expect(purchase.isExpired && purchase.renewalIntent == .lapse && purchase.cancelationReason == reason)
    }

    @Test("in grace it is not expired; in billing retry it is, with a billing error")
    func unpaid() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, retry: true, grace: 36, told: 30))
        let grace = try purchase(life, on: 31)
        #expect(!grace.isExpired && grace.isBillingRetry == true && grace.cancelationReason == nil)
        let retry = try purchase(life, on: 37)
        #expect(retry.isExpired && retry.isBillingRetry == true && retry.cancelationReason == .billingError)
    }

    @Test("until the store is asked about a late renewal, the last shown status stays")
    func lateRenewal() throws {
        var life = Life()
        life.told(Life.period("1", from: 0), Life.renewal(true, told: 0))
        let late = purchases(life, on: 40, shown: .active)
        #expect(late.map(\.isExpired) == [false])
        #expect(purchases(life, on: 40, shown: .expired).map(\.isExpired) == [true])
    }

    @Test(
        "a refund's reason becomes the cancellation reason",
        arguments: [
            (CancelationReason?.none, LedgerPeriod.Revocation.Kind.refunded, CancelationReason.customer),
            (.technicalIssues, .refunded, .technicalIssues), (.otherReason, .refunded, .otherReason),
            (nil, .familyRevoked, .system),
        ])
    func refunded(
        told: CancelationReason?, kind: LedgerPeriod.Revocation.Kind, reason: CancelationReason
    ) throws {
        var life = Life()
        var period = Life.period("1", from: 0, told: 3)
        period.revocation = .init(at: Life.day(3), kind: kind, reason: told)
        life.told(period)
        let purchase = try purchase(life, on: 10)
        #expect(purchase.isExpired && purchase.cancelationReason == reason)
    }

    @Test("a product that was replaced by another is expired from the time of the replacement")
    func upgraded() throws {
        var life = Life()
        life.told(Life.period("1", from: 0, isUpgraded: true, told: 10))
        life.told(Life.period("2", from: 10, until: 40, product: "year", replaces: true))
        let both = purchases(life, on: 12)
        let month = try #require(both.first { $0.productID == "month" })
        let year = try #require(both.first { $0.productID == "year" })
        #expect(both.count == 2)
        #expect(month.isExpired && month.cancelationReason == .replaced && month.expiresAt == Life.day(10))
        #expect(!year.isExpired && year.cancelationReason == nil)
    }

    @Test("a pass that Cleeng ended is expired, also if the catalogue names another offer")
    func endedByCleeng() throws {
        func purchase(_ cleeng: [OfferID: LedgerEnd], catalogue: [ProductID: [OfferID]]) throws -> CustomerPurchase {
            var pass = Life.period("1", from: 0, product: "pass")
            pass.expiresAt = nil
            var ledger = SubscriptionLedger()
            ledger.apply(
                LedgerStatement(periods: [pass], cleeng: cleeng, granted: LedgerGrant(offer: "asked", at: Life.day(0))))
            ledger.setOffers(catalogue)
            let purchases = ledger.purchases(of: Self.name, shown: .active, at: Life.day(10), leeway: Life.leeway)
            return try #require(purchases.first)
        }
        let over = LedgerEnd(isOver: true, statedAt: Life.day(9))
        let runs = LedgerEnd(isOver: false, statedAt: Life.day(9))
        for catalogue in [[:], ["pass": ["asked"]], ["pass": ["sold"]]] as [[ProductID: [OfferID]]] {
            #expect(try purchase(["asked": over], catalogue: catalogue).isExpired)
            #expect(try !purchase(["asked": runs], catalogue: catalogue).isExpired)
            #expect(try !purchase([:], catalogue: catalogue).isExpired)
        }
        let sold: [ProductID: [OfferID]] = ["pass": ["sold"]]
        #expect(try !purchase(["asked": over, "other": runs], catalogue: sold).isExpired)
        #expect(try !purchase(["asked": over, "sold": runs], catalogue: sold).isExpired)
        #expect(try purchase(["asked": over, "sold": over], catalogue: sold).isExpired)
    }

    @Test("a renewal keeps the first purchase date and moves the end")
    func renewed() throws {
        var life = Life()
        var first = Life.period("1", from: 0)
        first.originalPurchasedAt = Life.day(0)
        first.transactionID = "t1"
        var second = Life.period("2", from: 30)
        second.originalPurchasedAt = Life.day(0)
        second.transactionID = "t2"
        life.told(second)
        life.told(first)
        let purchase = try purchase(life, on: 31)
        #expect(purchase.purchaseID == "1000" && purchase.transactionID == "t2")
        #expect(purchase.purchasedAt == Life.day(0) && purchase.expiresAt == Life.day(60))
        #expect(purchase.renewedAt == Life.day(30))
    }

    @Test("the latest statement sets the time of the intent's change, in any order")
    func intentChanged() throws {
        for order in [[5.0, 9.0], [9.0, 5.0]] {
            var life = Life()
            life.told(Life.period("1", from: 0))
            for day in order {
                life.words.append(
                    LedgerStatement(renewal: Life.renewal(day == 5, told: day), intentChangedAt: Life.day(day)))
            }
            let purchase = try purchase(life, on: 10)
            #expect(purchase.renewalIntent == .lapse && purchase.renewalIntentChangedAt == Life.day(9))
        }
    }

    @Test("of several subscriptions to one product the newest is shown")
    func newest() {
        func purchase(_ id: String, renewed: Double) -> CustomerPurchase {
            var purchase = CustomerPurchase(
                platform: .apple, productID: "month", purchaseID: TransactionID(id), transactionID: TransactionID(id),
                isSandbox: false,
                isExpired: false)
            purchase.renewedAt = Life.day(renewed)
            return purchase
        }
        let all = [purchase("1", renewed: 3), purchase("2", renewed: 9), purchase("3", renewed: 5)]
        #expect(CustomerPurchase.newest(of: all).map(\.purchaseID) == ["2"])
        #expect(CustomerPurchase.newest(of: all.reversed()).map(\.purchaseID) == ["2"])
    }

    @Test("JSON omits absent fields and has no spaces")
    func json() {
        var purchase = CustomerPurchase(
            platform: .apple, productID: "gold.month", purchaseID: "100000012", transactionID: "100000345",
            isSandbox: false, isExpired: false)
        let bare = String(decoding: PurchaseJSON.customer("u-77", [purchase]), as: UTF8.self)
        #expect(
            bare
                == #"{"applicationUsername":"u-77","purchases":{"apple:gold.month":{"productId":"apple:gold.month","purchaseId":"apple:100000012","transactionId":"apple:100000345","platform":"apple","sandbox":false,"isExpired":false}}}"#
        )
        purchase.purchasedAt = Timestamp(microseconds: 1_767_323_045_999_999)
        purchase.expiresAt = Timestamp(seconds: 1_770_001_445)
        purchase.renewalIntent = .lapse
        purchase.renewalIntentChangedAt = Timestamp(seconds: 1_767_323_045)
        purchase.cancelationReason = .cost
        purchase.isBillingRetry = false
        purchase.isTrial = true
        purchase.isIntro = false
        purchase.discountID = "half"
        purchase.priceConsent = .notified
        let full = String(decoding: PurchaseJSON.customer("u\"\n\u{1}", [purchase]), as: UTF8.self)
        #expect(full.hasPrefix(#"{"applicationUsername":"u\"\n\u0001","#))
        #expect(
            full.contains(
                #""purchaseDate":"2026-01-02T03:04:05.000Z","expirationDate":"2026-02-02T03:04:05.000Z","isExpired":false,"renewalIntent":"Lapse","renewalIntentChangeDate":"2026-01-02T03:04:05.000Z","cancelationReason":"Customer.Cost","isBillingRetryPeriod":false,"isTrialPeriod":true,"isIntroPeriod":false,"discountId":"half","priceConsentStatus":"Notified""#
            ))
        #expect(
            String(decoding: PurchaseJSON.customer("nobody", []), as: UTF8.self)
                == #"{"applicationUsername":"nobody","purchases":{}}"#)
    }

    @Test("a plan that was replaced under a new id stays, over from the move on")
    func formerID() throws {
        var ledger = SubscriptionLedger()
        ledger.apply(LedgerStatement(periods: [Life.period("1", from: 0, until: 30)]))
        #expect(ledger.formerPurchases(of: LedgerHistory.name).isEmpty)
        ledger.apply(LedgerStatement(movesTo: LedgerMove(to: "2", statedAt: Life.day(10))))
        let former = try #require(ledger.formerPurchases(of: LedgerHistory.name).first)
        #expect(former.isExpired && former.cancelationReason == .replaced && former.expiresAt == Life.day(10))
        #expect(former.renewalIntent == nil && former.productID == "month")
        // It had ended before the customer signed up again.
        var ended = SubscriptionLedger()
        ended.apply(LedgerStatement(periods: [Life.period("1", from: 0, until: 30)]))
        ended.apply(LedgerStatement(movesTo: LedgerMove(to: "2", statedAt: Life.day(50))))
        #expect(
            ended.formerPurchases(of: LedgerHistory.name).map(\.cancelationReason) == [.unknown]
                && ended.formerPurchases(of: LedgerHistory.name).map(\.expiresAt) == [Life.day(30)])
    }
}
