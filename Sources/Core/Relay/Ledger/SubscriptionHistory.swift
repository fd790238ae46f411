package import Postgres
package import RelayCore

/// The earlier and present names of a subscription that the ledger knows. A store continues a subscription under
/// another number if its app moves to another bundle.
package struct SubscriptionHistory: Sendable {
    /// Names from the requested one to the present one.
    package private(set) var path: [SubscriptionName]
    /// Ledger of the present name; nil if there is none.
    private(set) var ledger: SubscriptionLedger?
    private(set) var bundleID: BundleID?

    /// Limit of moves that are followed.
    private static let mostMoves = SubscriptionLedger.mostPredecessors

    package var current: SubscriptionName { path[path.count - 1] }
    package var hasMoved: Bool { path.count > 1 }

    /// All names, the present one first.
    ///
    /// - Parameter earlier: names that the ledger may not know.
    package func names(and earlier: Set<TransactionID> = []) -> [SubscriptionName] {
        let all = earlier.union(ledger?.movedFrom ?? []).sorted().map(current.under)
        var seen: Set<SubscriptionName> = []
        return (path.reversed() + all).filter { seen.insert($0).inserted }
    }

    /// Reads the history of each name, in the same order: one query for all names, and one more for each move. Index
    /// used: the primary key.
    package static func read(
        _ names: [SubscriptionName], _ ask: (SQL) async throws -> PostgresRows
    ) async throws -> [SubscriptionHistory] {
        var histories = names.map { SubscriptionHistory(path: [$0]) }
        var open = Array(histories.indices)
        for _ in 0...mostMoves where !open.isEmpty {
            let rows = try await ask(
                """
                SELECT i.ordinal, l.state, l.bundle_id
                FROM \(.subscriptions(open.map { histories[$0].current }), as: "i", ordinal: "ordinal")
                CROSS JOIN LATERAL (SELECT * FROM ledgers l WHERE \(.sameSubscription("l", "i")) OFFSET 0) AS l
                """)
            var moved: [Int] = []
            for row in rows {
                let index = open[try row.get("ordinal", as: Int.self) - 1]
                let ledger = try StoredLedger.state(row)
                histories[index].ledger = ledger
                histories[index].bundleID = try row.get("bundle_id")
                guard let next = ledger?.movedTo.map(histories[index].current.under),
                    !histories[index].path.contains(next)
                else { continue }
                histories[index].path.append(next)
                (histories[index].ledger, histories[index].bundleID) = (nil, nil)
                moved.append(index)
            }
            open = moved
        }
        return histories
    }

    /// All names of subscriptions: those requested, and every other that the ledger has for them.
    ///
    /// - Parameter names: all that a purchase could take: its own, and those that its receipt or its store link to it.
    package static func names(
        of names: [SubscriptionName], _ ask: (SQL) async throws -> PostgresRows
    ) async throws -> [SubscriptionName] {
        let all = try await read(names, ask).flatMap { $0.names() }
        return Set(names).union(all).sorted { $0.order < $1.order }
    }

    private init(path: [SubscriptionName]) { self.path = path }

    /// The subscription as the ledger has it now, if it was requested by an earlier name. The ledger has recorded the
    /// receipts of earlier names.
    package var moved: ExternalSubscription? {
        hasMoved ? ExternalSubscription(current, ledger, bundleID: bundleID) : nil
    }
}

extension ExternalSubscription {
    /// Creates a subscription from the ledger.
    package init(_ name: SubscriptionName, _ ledger: SubscriptionLedger?, bundleID: BundleID?) {
        let newest = ledger?.periods.values.max { $0.purchasedAt < $1.purchasedAt }
        self.init(
            key: name.originalTransactionID, environment: name.environment, statement: LedgerStatement(),
            bundleID: bundleID,
            productID: newest?.productID, isTrial: newest?.isTrial)
    }
}
