import AppStoreSimulation
import Foundation
import RelayCore
import Testing

@testable import AppleStore

@Suite("The ledger follows the App Store's notifications")
struct SimulatedLifeTests {
    private func day(_ number: Double) -> Date { SimulatedLife.day(number) }

    @Test func itRenewsUntilTheCustomerTurnsThatOff() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        #expect(try life.status(on: 1) == .active)
        #expect(try life.state(on: 1).expiresAt == SimulatedLife.moment(30))
        try await life.tell { $0.renewed(at: day(29.5)) }
        #expect(try life.state(on: 31).expiresAt == SimulatedLife.moment(60))
        try await life.tell { $0.renewalTurned(.off, at: day(40)) }
        #expect(try life.status(on: 59) == .active)
        #expect(try life.state(on: 59).willRenew == false)
        let expired = try await life.tell { $0.expired(at: day(60)) }
        #expect(expired.type == "EXPIRED" && expired.subtype == "VOLUNTARY")
        #expect(try life.status(on: 60) == .expired)
        #expect(try life.state(on: 60).lookUpAt == nil)
    }

    @Test func graceServesAndRetryAfterItDoesNot() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.renewalFailed(at: day(30), graceUntil: day(46)) }
        #expect(try life.status(on: 40) == .inGrace)
        try await life.tell { $0.graceEnded(at: day(46)) }
        #expect(try life.status(on: 47) == .inBillingRetry)
        try await life.tell { $0.recovered(at: day(50)) }
        #expect(try life.status(on: 51) == .active)
        #expect(try life.state(on: 51).expiresAt == SimulatedLife.moment(80), "from when it was paid")
    }

    @Test func daysOfGraceBelongToThePaidPeriod() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.renewalFailed(at: day(30), graceUntil: day(46)) }
        try await life.tell { $0.recovered(at: day(40)) }
        #expect(try life.status(on: 41) == .active)
        #expect(try life.state(on: 41).expiresAt == SimulatedLife.moment(60))
    }

    @Test func anUnpaidSubscriptionExpiresAndMayBeBoughtAgain() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.renewalFailed(at: day(30)) }
        #expect(try life.status(on: 31) == .inBillingRetry)
        let expired = try await life.tell { $0.expired(at: day(90)) }
        #expect(expired.subtype == "BILLING_RETRY")
        #expect(try life.status(on: 90) == .expired)
        let again = try await life.tell { $0.resubscribed(at: day(100)) }
        #expect(again.originalTransactionID == "2000000700000001")
        #expect(try life.status(on: 101) == .active)
    }

    @Test func aRefundEndsItAndItsReversalRestoresIt() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.refunded(at: day(5)) }
        #expect(try life.status(on: 6) == .revoked)
        #expect(try life.state(on: 6).reason == "refunded")
        try await life.tell { $0.refundReversed(at: day(7)) }
        #expect(try life.status(on: 8) == .active)
    }

    @Test func aRefundOfAnEarlierPeriodEndsNothing() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        let first = life.subscription.transaction.transactionId
        try await life.tell { $0.renewed(at: day(30)) }
        try await life.tell { $0.refunded(at: day(31), transactionId: first) }
        #expect(try life.status(on: 32) == .active)
        try await life.tell { $0.refunded(at: day(33)) }
        #expect(try life.status(on: 34) == .revoked)
    }

    @Test func theFamilySharesItNoMore() async throws {
        var life = try SimulatedLife()
        life.subscription.inAppOwnershipType = "FAMILY_SHARED"
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.revoked(at: day(3)) }
        #expect(try life.status(on: 4) == .revoked)
        #expect(try life.state(on: 4).reason == "family_revoked")
    }

    @Test func anUpgradeActsAtOnceAndADowngradeAtTheNextRenewal() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.upgraded(to: "dear", at: day(10)) }
        #expect(try life.state(on: 11).productID == "dear")
        #expect(try life.state(on: 11).expiresAt == SimulatedLife.moment(40))
        try await life.tell { $0.downgraded(to: "cheap", at: day(20)) }
        #expect(try life.state(on: 21).productID == "dear")
        #expect(try life.state(on: 21).autoRenewProductID == "cheap")
        try await life.tell { $0.renewed(at: day(40)) }
        #expect(try life.state(on: 41).productID == "cheap")
        #expect(try life.state(on: 41).expiresAt == SimulatedLife.moment(70))
    }

    @Test func aPeriodIsExtendedAndAHigherPriceAgreedTo() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.extended(by: 10 * 86_400, at: day(20)) }
        #expect(try life.state(on: 35).expiresAt == SimulatedLife.moment(40))
        try await life.tell { $0.priceIncrease(agreed: false, at: day(21)) }
        #expect(life.ledger.renewal?.priceConsent == 0)
        try await life.tell { $0.priceIncrease(agreed: true, at: day(22)) }
        #expect(life.ledger.renewal?.priceConsent == 1)
    }

    @Test func itMovesIntoABundleUnderAnotherNumber() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        let moved = try await life.tell {
            $0.movedToBundle(newOriginalTransactionId: "2000000800000001", at: day(10))
        }
        #expect(moved.originalTransactionID == "2000000800000001")
        #expect(moved.statement?.movesFrom == ["2000000700000001"])
        let renewed = try await life.tell { $0.renewed(at: day(40)) }
        #expect(renewed.originalTransactionID == "2000000800000001")
    }

    @Test func inWhateverOrderItIsHeard() async throws {
        var life = try SimulatedLife()
        try await life.tell { $0.bought(at: day(0)) }
        try await life.tell { $0.renewalFailed(at: day(30), graceUntil: day(46)) }
        try await life.tell { $0.recovered(at: day(40)) }
        try await life.tell { $0.upgraded(to: "dear", at: day(50)) }
        try await life.tell { $0.refunded(at: day(51)) }
        try await life.tell { $0.refundReversed(at: day(52)) }
        try await life.tell { $0.renewalTurned(.off, at: day(53)) }
        var backwards = SubscriptionLedger()
        for word in life.words.reversed() { backwards.apply(word) }
        #expect(backwards == life.ledger)
        #expect(try SimulatedLife.state(of: backwards, on: 60).status == .active)
        #expect(try SimulatedLife.state(of: backwards, on: 80).status == .expired)
    }
}
