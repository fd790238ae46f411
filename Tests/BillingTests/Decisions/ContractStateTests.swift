import RelayCore
import Testing

@testable import Billing

@Suite("A contract's state follows from its subscriptions")
struct ContractStateTests {
    private static let day = Duration.seconds(86_400)
    private static let start = Timestamp(seconds: 1_800_000_000)

    private func period(
        _ id: String, from: Int, to: Int, product: String = "com.example.monthly", isTrial: Bool? = nil,
        revokedOn: Int? = nil
    ) -> LedgerPeriod {
        LedgerPeriod(
            id: TransactionID(id), productID: ProductID(product), purchasedAt: Self.start + Self.day * from,
            expiresAt: Self.start + Self.day * to,
            revocation: revokedOn.map { .init(at: Self.start + Self.day * $0, kind: .refunded) },
            statedAt: Self.start + Self.day * (revokedOn ?? from), isTrial: isTrial)
    }

    private func state(
        _ words: [[LedgerStatement]], on day: Int, keys: [String] = ["1", "2", "3"],
        shown: SubscriptionState.Status? = .active
    ) -> ContractState {
        let parts = zip(keys, words).map { key, words in
            var ledger = SubscriptionLedger()
            for word in words { ledger.apply(word) }
            return ContractState.Part(
                name: SubscriptionName(
                    publisher: "main", environment: "Sandbox", originalTransactionID: TransactionID(key)),
                ledger: ledger, shown: shown)
        }
        return ContractState(parts, at: Self.start + Self.day * day, leeway: .seconds(3_600))
    }

    private func renewal(_ willRenew: Bool, on day: Int, retry: Bool = false) -> LedgerStatement {
        LedgerStatement(
            renewal: LedgerRenewal(
                willRenew: willRenew, productID: nil, isInBillingRetry: retry, statedAt: Self.start + Self.day * day))
    }

    @Test("a running one is active, with its next date and its trial")
    func active() {
        let normal = state([[LedgerStatement(periods: [period("a", from: 0, to: 30)])]], on: 1)
        #expect(normal.lifecycle == .active && normal.end == nil)
        #expect(normal.nextBilling == Self.start + Self.day * 30 && normal.product == "apple:com.example.monthly")
        #expect(normal.phases.map(\.kind) == [.normal])
        let trial = state([[LedgerStatement(periods: [period("a", from: 0, to: 7, isTrial: true)])]], on: 1)
        #expect(trial.lifecycle == .inTrial && trial.phases.map(\.kind) == [.trial])
    }

    @Test("one without renewal is active until its end, which is shown")
    func cancelled() {
        let words = [LedgerStatement(periods: [period("a", from: 0, to: 30)]), renewal(false, on: 2)]
        let running = state([words], on: 3)
        #expect(running.lifecycle == .active && running.end == Self.start + Self.day * 30)
        #expect(running.nextBilling == nil)
        let over = state([words], on: 31)
        #expect(over.lifecycle == .ended && over.end == Self.start + Self.day * 30)
        #expect(over.phases.map(\.kind) == [.normal, .inactive])
    }

    @Test("a refund ends it, a failed payment pauses it, and an unreported end does not end it")
    func others() {
        let refunded = state([[LedgerStatement(periods: [period("a", from: 0, to: 30, revokedOn: 5)])]], on: 6)
        #expect(refunded.lifecycle == .ended && refunded.end == Self.start + Self.day * 5)
        let failing = state(
            [[LedgerStatement(periods: [period("a", from: 0, to: 30)]), renewal(true, on: 30, retry: true)]], on: 31)
        #expect(failing.lifecycle == .paused && failing.end == nil)
        #expect(state([[LedgerStatement(periods: [period("a", from: 0, to: 30)])]], on: 31).lifecycle == .active)
        #expect(state([], on: 1).lifecycle == .ended)
        #expect(state([[]], on: 1).lifecycle == .ended)
    }

    @Test("after an upgrade the longest-running subscription counts, and the phases show both")
    func upgrade() {
        let old = [LedgerStatement(periods: [period("a", from: 0, to: 30)]), renewal(false, on: 10)]
        let new = [LedgerStatement(periods: [period("b", from: 10, to: 40, product: "com.example.yearly")])]
        let both = state([old, new], on: 11)
        #expect(both.product == "apple:com.example.yearly" && both.lifecycle == .active)
        #expect(both.start == Self.start)
        #expect(both.phases.map(\.product) == ["apple:com.example.monthly", "apple:com.example.yearly"])
        let other = state([new], on: 11, keys: ["google:x"])
        #expect(other.product == "google:com.example.yearly")
    }
}
