import AppStoreServer
import AppleStore
public import RelayCore

/// Result of reading a customer's refund history from the App Store.
public struct RefundLookup: Sendable, Equatable {
    /// Whether the App Store knows the transaction.
    public var isKnown = true
    /// Refunds in the store's answer.
    public var found = 0
    /// Refunds among them that the ledger did not have.
    public var new = 0
    /// Refunds among them that are not genuine by the settings, or lack data that the ledger needs.
    public var unusable = 0
    /// Whether the customer has more refunds than one lookup reads.
    public var hasMore = false

    /// One sentence.
    public var words: String {
        guard isKnown else { return "the App Store does not know the subscription" }
        let rest = unusable > 0 ? ", \(unusable) of them not usable" : ""
        return "\(found) refunds, \(new) of them new\(rest)\(hasMore ? "; there are more" : "")"
    }
}

extension LongAct<RefundLookup> {
    /// Limit of one lookup: a thousand refunds.
    private static let mostPages = 50

    /// Asks the App Store for all refunds of a subscription's customer. Records each genuine one in the ledger.
    public static func refunds(of name: SubscriptionName, _ access: AppStoreAccess?) -> Self {
        LongAct(.refundsLookedUp) { work in
            let filter = SubscriptionFilter(originalTransactionID: name.originalTransactionID, limit: 100)
            guard
                let known = try await work.store.ops.subscriptions(matching: filter, in: work.actor.scope).items.first(
                    where: { $0.name == name })
            else { throw ActRefusal.unknown(.subscription) }
            guard name.platform == .apple else {
                throw ActRefusal.cannotAsk("it is no subscription of the App Store's")
            }
            let access = try AppStoreAccess.required(access)
            let (app, server) = try access.app(known.bundleID, name.environment, for: work.actor.scope)
            let target = "\(name.environment)/\(name.originalTransactionID)"
            return try await work.recorded(target, of: name.publisher) {
                var lookup = RefundLookup()
                var (revision, pages): (String?, Int) = (nil, 0)
                repeat {
                    let answer = await access.client.refunds(
                        of: name.originalTransactionID, in: server, bundleID: app, after: revision)
                    switch answer {
                    case .value(let page):
                        try await access.record(page.signedTransactions, of: name, &lookup, work.store)
                        revision = page.hasMore == true ? page.revision : nil
                    case .unknown: (lookup.isKnown, revision) = (false, nil)
                    case .misconfigured(let why): throw ActRefusal.cannotAsk(why)
                    case .tryAgain(let why, _): throw ActRefusal.storeAway(why)
                    }
                    pages += 1
                    try Task.checkCancellation()
                } while revision != nil && pages < mostPages
                lookup.hasMore = revision != nil
                return (lookup, lookup.words)
            }
        }
    }
}

extension AppStoreAccess {
    /// Records refunds, including those of the customer's other purchases: an unclaimed subscription has a ledger too.
    fileprivate func record(
        _ signed: [String], of name: SubscriptionName, _ lookup: inout RefundLookup, _ store: RelayStore
    ) async throws {
        lookup.found += signed.count
        var found: [TransactionID: (periods: [LedgerPeriod], bundleID: BundleID?)] = [:]
        for text in signed {
            do {
                let status = try SignedStatus(transaction: text, renewal: nil, status: nil)
                try await status.verify(trust, scope)
                let payload = status.transaction.payload
                let periods = payload.ledgerPeriods()
                guard let key = payload.originalTransactionId, payload.environment.name == name.environment,
                    !periods.isEmpty
                else {
                    lookup.unusable += 1
                    continue
                }
                found[key, default: ([], payload.bundleId)].periods += periods
            } catch {
                // The text is not genuine, or is not a transaction.
                lookup.unusable += 1
            }
        }
        let messages = found.map { key, refunds in
            var one = name
            one.originalTransactionID = key
            return LedgerMessage(
                one, LedgerStatement(periods: refunds.periods), bundleID: refunds.bundleID,
                note: .init(event: "looked_up", detail: "App Store: \(refunds.periods.count) refunds"))
        }
        for one in try await store.subscriptions.record(messages) {
            lookup.new += one.newRevocations
        }
    }
}
