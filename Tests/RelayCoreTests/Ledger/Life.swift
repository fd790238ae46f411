import Formats
import RelayCore
import Testing

@testable import RelayCore

/// A subscription's life in days: tests read like a log of Apple's statements and their times.
struct Life {
    static let day = Duration.seconds(86_400)
    static let leeway = Duration.seconds(3_600)

    static func day(_ day: Double) -> Timestamp { Timestamp(seconds: 0) + .seconds(rounded: day * 86_400) }

    var words: [LedgerStatement] = []

    /// A period of thirty days, or up to `until`. Its statement is from the day on which it begins, unless `told` names
    /// another.
    static func period(
        _ id: String, from start: Double, until end: Double? = nil, product: String = "month",
        revoked: LedgerPeriod.Revocation.Kind? = nil, isUpgraded: Bool = false, replaces: Bool = false,
        told: Double? = nil
    ) -> LedgerPeriod {
        let told = told ?? start
        return LedgerPeriod(
            id: TransactionID(id), productID: ProductID(product), purchasedAt: day(start),
            expiresAt: day(end ?? start + 30),
            revocation: revoked.map { LedgerPeriod.Revocation(at: day(told), kind: $0) }, isUpgraded: isUpgraded,
            replacesEarlier: replaces, statedAt: day(told))
    }

    static func renewal(
        _ willRenew: Bool?, product: String = "month", retry: Bool = false, grace: Double? = nil, intent: Int? = nil,
        told: Double
    ) -> LedgerRenewal {
        LedgerRenewal(
            willRenew: willRenew, productID: ProductID(product), isInBillingRetry: retry, graceUntil: grace.map(day),
            expirationIntent: intent, statedAt: day(told))
    }

    mutating func told(
        _ period: LedgerPeriod? = nil, _ renewal: LedgerRenewal? = nil, over: Bool? = nil, on moment: Double = 0
    ) {
        words.append(
            LedgerStatement(
                periods: period.map { [$0] } ?? [], renewal: renewal,
                end: over.map { LedgerEnd(isOver: $0, statedAt: Self.day(moment)) }))
    }

    var ledger: SubscriptionLedger {
        var ledger = SubscriptionLedger()
        for word in words { ledger.apply(word) }
        return ledger
    }

    func state(on moment: Double) throws -> SubscriptionState {
        try #require(ledger.state(at: Self.day(moment), leeway: Self.leeway))
    }

    func status(on moment: Double) throws -> SubscriptionState.Status { try state(on: moment).status }
}
