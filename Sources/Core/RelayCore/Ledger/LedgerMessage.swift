/// A statement about a subscription, and its entry in the timeline.
public struct LedgerMessage: Sendable {
    /// Entry in the subscription's timeline.
    public struct Note: Sendable {
        /// One of a fixed set, or the store's type of notification in lower case.
        public var event: String
        /// Time of the statement; nil: now.
        public var saidAt: Timestamp?
        public var detail: String?
        /// UUID of the store's notification that contains the statement; nil if none does.
        public var notification: UInt128?

        public init(event: String, saidAt: Timestamp? = nil, detail: String? = nil) {
            self.event = event
            self.saidAt = saidAt
            self.detail = detail
        }
    }

    /// Condition under which the statement applies. An answer about one customer's access does not apply after a
    /// transfer to another customer.
    public enum Condition: Sendable {
        case always
        /// `nil` requires that no customer owns the subscription.
        case whileOwned(by: CustomerID?)
    }

    public var name: SubscriptionName
    public var statement: LedgerStatement
    public var condition: Condition
    public var bundleID: BundleID?
    /// Nil: there is no statement, and the subscription is only evaluated again. A change of status is still noted.
    public var note: Note?

    public init(
        _ name: SubscriptionName, _ statement: LedgerStatement = LedgerStatement(), condition: Condition = .always,
        bundleID: BundleID? = nil, note: Note? = nil
    ) {
        self.name = name
        self.statement = statement
        self.condition = condition
        self.bundleID = bundleID
        self.note = note
    }
}

extension LedgerMessage {
    /// Messages that take the owners of moved subscriptions to their present ids, one step on: one for each id. An id
    /// of which only the move is known has nothing to take along.
    public static func following(_ former: [LedgerView]) -> [LedgerMessage] {
        var statements: [SubscriptionName: LedgerStatement] = [:]
        for one in former where !one.isOnlyLinked {
            guard let present = one.presentName else { continue }
            statements[present, default: LedgerStatement()].movesFrom.insert(one.name.originalTransactionID)
            statements[one.name, default: LedgerStatement()].movesFrom.formUnion([])
        }
        return statements.map { LedgerMessage($0, $1) }
    }

    /// This message, and one for each former id of the subscription, which states the move.
    public var withMoves: [LedgerMessage] {
        // Answers that an earlier version stored lack `movedAt`.
        let movedAt = statement.movedAt ?? statement.isCurrentAt
        return [self]
            + statement.movesFrom.sorted().map { old in
                var note = note
                note?.event = "moved"
                note?.detail = "to \(name.originalTransactionID)"
                return LedgerMessage(
                    name.under(old),
                    LedgerStatement(
                        movesTo: movedAt.map { LedgerMove(to: name.originalTransactionID, statedAt: $0) }),
                    bundleID: bundleID, note: note)
            }
    }
}
