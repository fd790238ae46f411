import Logging
import RelayCore

/// Questions before a purchase is sent: whether it may take a subscription over, and whose the number is that it names.
extension PursuitWorker {
    /// - Returns: nil if no other customer has anything that the purchase could take.
    func keepOwner(_ claimed: ClaimedPursuit, _ pursuit: inout Pursuit) async throws -> Decision? {
        var claimed = claimed
        if claimed.awaitsStore {
            let purchase = try await store.purchases.purchase(
                of: claimed, by: pursuit.phase.connector?.driver ?? .receipt)
            let answer = await taken.ask(purchase.proof, claimed.subscriptionKey, of: claimed.publisher)
            try Task.checkCancellation()
            switch answer {
            case .names(let names): claimed.takes += names + names.compactMap(\.unconfirmed)
            // An earlier try may have reached Cleeng, so that only its repeat shows the result.
            case .unanswered where pursuit.forwards > 0: break
            case .unanswered(let why, let retryAfter):
                logger.warning("a purchase waits: \(why)", metadata: ["validation_id": "\(claimed.id)"])
                return pursuit.isUnconfirmed(
                    "it must not take a subscription over, and \(why)", notBefore: retryAfter, at: try now(),
                    reads: settings.reads)
            }
        }
        return switch try await store.subscriptions.precedence(over: claimed) {
        case nil: nil
        case .owner: pursuit.ownedByAnother(at: try now())
        case .waiting: pursuit.waits(until: try now() + settings.reads.interval, at: try now())
        }
    }

    /// Asks Cleeng whose the customer number is. The app alone named it, and Cleeng judges no purchase that a connector
    /// registers: it believes the number.
    ///
    /// - Returns: nil if it is the customer's.
    func checkNumber(
        _ number: Int64, _ claimed: ClaimedPursuit, _ pursuit: inout Pursuit, _ pass: CallGate.Pass
    ) async throws -> Decision? {
        let owner = await upstream.owner(of: number, pass)
        try Task.checkCancellation()
        switch owner {
        case .customer(claimed.customer): return nil
        case .customer, .nobody:
            let isForced = pursuit.phase.connector == .storekit2 && settings.forcesStoreKit2
            return pursuit.numberIsAnothers(mayFallBack: !isForced, at: try now())
        case .unanswered(let why):
            logger.warning(
                "a purchase waits: Cleeng could not be asked whose its customer number is; the publisher token must be allowed to read /3.1/customers",
                metadata: ["validation_id": "\(claimed.id)", "error": "\(why)"])
            return pursuit.isUnconfirmed(
                "Cleeng could not be asked whose the customer number is: \(why)", at: try now(),
                reads: settings.reads)
        }
    }
}
