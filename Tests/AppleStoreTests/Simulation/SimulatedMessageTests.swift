import AppStoreSimulation
import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("Messages of the simulated App Store")
struct SimulatedMessageTests {
    private func day(_ number: Double) -> Date { SimulatedLife.day(number) }

    @Test func eachEventHasItsTypeAndItsStatus() {
        var life = SimulatedSubscription(firstTransactionId: 1, productId: "month")
        let told = [
            life.bought(at: day(0)), life.renewalTurned(.off, at: day(1)), life.renewalTurned(.on, at: day(2)),
            life.downgraded(to: "cheap", at: day(3)), life.downgraded(to: "month", at: day(4)),
            life.priceIncrease(agreed: false, at: day(5)), life.priceIncrease(agreed: true, at: day(6)),
            life.renewed(at: day(30)), life.extended(by: 86_400, at: day(31)), life.refunded(at: day(32)),
            life.refundReversed(at: day(33)), life.upgraded(to: "dear", at: day(40)),
            life.renewalFailed(at: day(70), graceUntil: day(86)), life.graceEnded(at: day(86)),
            life.recovered(at: day(90)), life.renewalFailed(at: day(120)), life.expired(at: day(180)),
            life.resubscribed(at: day(190)), life.renewalTurned(.off, at: day(200)), life.expired(at: day(220)),
            life.resubscribed(at: day(230)), life.revoked(at: day(231)),
        ]
        let names = told.map { notification in
            let status = notification.status.map { String($0.rawValue) } ?? "-"
            return "\(notification.notificationType) \(notification.subtype ?? "-") \(status)"
        }
        #expect(
            names == [
                "SUBSCRIBED INITIAL_BUY 1", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED 1",
                "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED 1", "DID_CHANGE_RENEWAL_PREF DOWNGRADE 1",
                "DID_CHANGE_RENEWAL_PREF - 1", "PRICE_INCREASE PENDING 1", "PRICE_INCREASE ACCEPTED 1",
                "DID_RENEW - 1", "RENEWAL_EXTENDED - 1", "REFUND - 5", "REFUND_REVERSED - 1",
                "DID_CHANGE_RENEWAL_PREF UPGRADE 1", "DID_FAIL_TO_RENEW GRACE_PERIOD 4", "GRACE_PERIOD_EXPIRED - 3",
                "DID_RENEW BILLING_RECOVERY 1", "DID_FAIL_TO_RENEW - 3", "EXPIRED BILLING_RETRY 2",
                "SUBSCRIBED RESUBSCRIBE 1", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED 1", "EXPIRED VOLUNTARY 2",
                "SUBSCRIBED RESUBSCRIBE 1", "REVOKE - 5",
            ])
        #expect(Set(told.map(\.notificationUUID)).count == told.count)
    }

    @Test func receiptTransactionAndNotificationNameTheSamePeriod() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.renewed(at: day(30)) }
        let newest = life.subscription.transaction
        let receipt = life.subscription.receipt(at: day(31))
        #expect(receipt.purchases.count == 2)
        let bytes = try TrustFixture.receipts.get().sign(receipt)
        let posted = try life.authority.sign(json: newest.json(signedDate: day(31)))
        for text in [base64(bytes), posted] {
            let read = try PurchaseReader.read(text, transactionId: TransactionID(newest.transactionId))
            let period = try #require(read.ledgerPeriods.first)
            #expect(read.originalTransactionId == "2000000700000001")
            #expect(life.ledger.periods[period.id]?.expiresAt == period.expiresAt)
            #expect(period.expiresAt == SimulatedLife.moment(60))
        }
    }

    @Test func receiptsMarkUpgradedPurchasesAsCancelled() {
        var life = SimulatedSubscription(firstTransactionId: 1)
        life.bought(at: day(0))
        life.upgraded(to: "dear", at: day(10))
        life.refunded(at: day(12))
        #expect(life.receipt(at: day(13)).purchases.map(\.cancellationDate) == [day(10), day(12)])
    }

    @Test func forgedPartsAreNotTaken() async throws {
        var life = try SimulatedLife()
        let good = life.subscription.bought(at: day(0))
        #expect(await life.refusal(of: good) == nil)
        let stranger = try StoreAuthority(.transactions, name: "Stranger", form: SimulatedLife.form)
        #expect(await life.refusal(of: good, inner: stranger) == .untrustedRoot)
        var forged = good
        forged.transaction?.bundleId = "com.example.other"
        #expect(await life.refusal(of: forged) == .bundle)
        forged = good
        forged.renewal?.originalTransactionId = "1"
        #expect(await life.refusal(of: forged) == .mismatch)
        forged = good
        forged.transaction?.environment = "Production"
        #expect(await life.refusal(of: forged) == .environment)
    }

    @Test func aRedeliveryIsRecognizedAndATestHasNoCustomer() async throws {
        var life = try SimulatedLife()
        let bought = life.subscription.bought(at: day(0))
        #expect(try await life.read(bought).identity == life.read(bought).identity)
        let test = try await life.read(
            SimulatedNotification(
                notificationType: "TEST", notificationUUID: "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
                bundleId: "com.example.app", signedDate: day(0)))
        #expect(test.statement == nil && test.originalTransactionID == nil)
    }

    @Test func versionOneTellsTheSameLife() throws {
        var life = try SimulatedLife()
        life.subscription.bought(at: day(0))
        life.subscription.upgraded(to: "dear", at: day(10))
        life.subscription.renewalTurned(.off, at: day(20))
        let told = try life.readUpdate("DID_CHANGE_RENEWAL_STATUS")
        #expect(told.environment == "Sandbox" && told.originalTransactionID == "2000000700000001")
        #expect(told.saidAt == SimulatedLife.moment(20))
        var ledger = SubscriptionLedger()
        ledger.apply(try #require(told.statement))
        let state = try SimulatedLife.state(of: ledger, on: 30)
        #expect(state.status == .active && state.productID == "dear" && state.willRenew == false)
        life.subscription.refunded(at: day(25))
        ledger.apply(try #require(try life.readUpdate("CANCEL").statement))
        #expect(try SimulatedLife.state(of: ledger, on: 30).status == .revoked)
    }
}
