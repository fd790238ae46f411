import AppStoreSimulation
import SimulatorKit

/// A subscription that the API knows.
struct KnownSubscription: Sendable {
    static let mostTransactions = 100

    var transaction: SimulatedTransaction
    var renewal: SimulatedRenewal
    /// nil if it follows from the dates.
    var status: SimulatedNotification.Status?
    var group: String
    /// All transactions by which it is found, the newest last.
    var transactionIds: [String]

    var number: String { transaction.originalTransactionId }
}

/// The subscriptions that the API knows, by any of their transactions.
struct KnownSubscriptions: Sendable {
    static let capacity = 10_000

    private var kept: [String: KnownSubscription] = [:]
    /// Subscription of each transaction.
    private var owners: [String: String] = [:]

    func find(_ transactionId: String) -> KnownSubscription? {
        kept[transactionId] ?? owners[transactionId].flatMap { kept[$0] }
    }

    /// Replaces the subscription's previous state; earlier transactions remain its own.
    mutating func put(_ subscription: KnownSubscription) throws(ControlFault) -> KnownSubscription {
        let number = subscription.number
        let known = kept[number]
        guard known != nil || kept.count < Self.capacity else {
            throw .conflict("there are \(Self.capacity) subscriptions already")
        }
        let new = [number] + subscription.transactionIds
        for id in new {
            if let other = find(id)?.number, other != number {
                throw .conflict("transaction \(id) is one of subscription \(other)")
            }
        }
        var seen: Set<String> = []
        // A transaction that is sent again counts as new.
        let all = ((known?.transactionIds ?? []) + new).reversed().filter { seen.insert($0).inserted }
        var subscription = subscription
        subscription.transactionIds = all.prefix(KnownSubscription.mostTransactions).reversed()
        forget(number)
        for id in subscription.transactionIds { owners[id] = number }
        kept[number] = subscription
        return subscription
    }

    /// - Returns: whether it was known.
    @discardableResult
    mutating func forget(_ number: String) -> Bool {
        guard let known = kept.removeValue(forKey: number) else { return false }
        for id in known.transactionIds { owners[id] = nil }
        return true
    }
}
