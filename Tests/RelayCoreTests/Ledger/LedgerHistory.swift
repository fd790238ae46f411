import Testing

@testable import RelayCore

/// Updates of subscriptions, each of which finds what the previous one has stored. Times are days, as in ``Life``.
struct LedgerHistory {
    static let name = LedgerHistory.name("1")
    static let owner = LedgerView.Owner(customer: "ana@example.test", email: "ana@example.test", offerID: "gold")

    /// The catalogue's offers by product.
    var catalogue: [ProductID: [OfferID]]? = ["month": ["gold"], "year": ["silver"]]
    var found: [SubscriptionName: LedgerChange.Found] = [:]

    static func name(_ key: TransactionID) -> SubscriptionName {
        SubscriptionName(publisher: "main", environment: "Production", originalTransactionID: key)
    }

    /// Makes a customer the owner, by a grant.
    mutating func own(
        _ name: SubscriptionName = Self.name, by owner: LedgerView.Owner = Self.owner, username: Username = "ana",
        id: ValidationID = .numbered(1)
    ) {
        var one = found[name] ?? .init()
        (one.owner, one.username, one.ownerNo, one.ownerValidation) = (owner, username, 1, id)
        one.granted = [owner.offerID]
        found[name] = one
    }

    @discardableResult
    mutating func record(
        _ messages: [LedgerMessage], at now: Timestamp, asks: Bool = false
    ) -> LedgerBatch {
        let before = messages.map { message in
            var one = found[message.name] ?? .init()
            one.now = now
            return one
        }
        let batch = LedgerBatch(
            messages, found: before, terms: .init(leeway: Life.leeway, asks: asks),
            offers: { [catalogue] products, _ in catalogue?.filter { products.contains($0.key) } })
        for one in batch.all {
            var next = one.found
            (next.ledger, next.granted, next.status) = (one.ledger, one.granted, one.shown?.status)
            (next.expiresAt, next.willRenew) = (one.shown?.expiresAt, one.shown?.willRenew)
            found[one.message.name] = next
        }
        return batch
    }

    @discardableResult
    mutating func record(
        _ statement: LedgerStatement = LedgerStatement(), on name: SubscriptionName = Self.name,
        note: LedgerMessage.Note? = nil, day: Double, asks: Bool = false
    ) throws -> LedgerChange {
        let batch = record([LedgerMessage(name, statement, note: note)], at: Life.day(day), asks: asks)
        return try #require(batch.all.first)
    }
}

extension LedgerStatement {
    /// A statement with the subscription's first month, and one about its renewal.
    static func month(
        renews: Bool? = true, until end: Double = 30, product: String = "month",
        revoked: LedgerPeriod.Revocation.Kind? = nil, told: Double = 0
    ) -> LedgerStatement {
        LedgerStatement(
            periods: [Life.period("1", from: 0, until: end, product: product, revoked: revoked, told: told)],
            renewal: renews.map { Life.renewal($0, told: told) })
    }
}

extension ValidationID {
    static func numbered(_ number: UInt64) -> ValidationID {
        ValidationID(bucket: Bucket(number: 1), day: 20_000, high: 0, low: number)
    }
}
