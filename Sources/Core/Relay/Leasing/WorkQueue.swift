import Postgres

/// The queues besides pursuits. All have the columns `due_at`, `fence`, `strikes`, `failures`, `trouble` and
/// `parked_at`. Each claim raises the fence, so that only the holder of the newest claim can write a row.
public enum WorkQueue: String, Sendable, CaseIterable {
    case events, webhooks, notifications, subscriptions, questions, consumption

    /// Properties of a queue's table that the statements on claimed rows need.
    struct Form: Sendable {
        enum Key { case id, subscription }
        enum Never: String {
            case null = "NULL"
            case infinity = "'infinity'"
        }

        var table: String
        /// Publisher of a row `q`. An event of the shared account has none: only ``OpsScope/all`` includes it.
        var publisher: SQL = "q.publisher"
        var key = Key.id
        /// Column that counts attempts. Releasing a row as if unclaimed subtracts the attempt.
        var attempts: String? = "attempts"
        /// Whether a column `owner` names the row's holder.
        var hasOwner = true
        /// `due_at` of a parked row. Copies of the previous version respect it too.
        var never = Never.infinity
        /// Whether later rows of a subscription wait for an earlier one that does not stand aside.
        var isOrdered = false
    }

    var form: Form {
        switch self {
        case .events: Form(table: "cleeng_events", publisher: "q.account", hasOwner: false, never: .null)
        case .webhooks:
            Form(
                table: "webhook_queue",
                publisher: "(SELECT e.publisher FROM webhook_endpoints e WHERE e.id = q.endpoint)", attempts: "tries")
        case .notifications: Form(table: "notification_relays", isOrdered: true)
        case .subscriptions:
            Form(table: "ledgers", key: .subscription, attempts: nil, hasOwner: false, never: .null)
        case .questions: Form(table: "store_questions", key: .subscription)
        case .consumption: Form(table: "consumption_requests")
        }
    }

    /// Adds a strike in a claim; releasing the row clears it.
    static func strike(_ row: SQL) -> SQL { "strikes = least(\(row).strikes + 1, 1000)" }

    /// Written when a processed row is released.
    static let cleared: SQL = "strikes = 0, failures = 0"

    /// Columns that a claim returns.
    static func columns(_ row: SQL) -> SQL { "\(row).strikes, \(row).failures, \(row).trouble" }

    /// Updates rows that this process still holds: a released row has no strikes. The server plans the statement each
    /// time, because a plan made while the queue is empty would read the whole table once it is full.
    private func update(_ rows: [ClaimedRow], _ changes: SQL) -> SQL {
        let form = form
        let held = ClaimedRow.Key.table(rows.map(\.key)) + ["fence": .int4Array(rows.map(\.fence))]
        let sql: SQL = """
            UPDATE \(unescaped: form.table) q
            SET \(changes)
            FROM \(held, as: "i")
            WHERE \(form.isKey) AND q.fence = i.fence AND q.strikes > 0
            """
        return sql.plannedAnew
    }

    /// - Parameter pause: nil parks the row. Later notifications of its subscription then no longer wait for it.
    func fail(_ row: ClaimedRow, why: String, pause: Duration?) -> SQL {
        let form = form
        let failed: SQL = "\(form.free)strikes = 0, failures = least(q.failures + 1, 1000), trouble = \(.text(why))"
        if let pause { return update([row], "\(failed), due_at = now() + \(pause)") }
        return update(
            [row], "\(failed), parked_at = now(), due_at = \(unescaped: form.never.rawValue)\(form.aside(true))")
    }

    /// - Parameter keepsStrikes: keeps the strikes from before the claim. If false, a ledger keeps its due time, since
    ///   it may already be the time of the next evaluation.
    func giveBack(_ rows: [ClaimedRow], after pause: Duration, keepsStrikes: Bool) -> SQL {
        let due: SQL = self == .subscriptions && !keepsStrikes ? "" : ", due_at = now() + \(pause)"
        let strikes: SQL = keepsStrikes ? "q.strikes - 1" : "0"
        return update(rows, "\(form.free)\(form.untried)strikes = \(strikes)\(due)")
    }

    /// The claim remains until it is cleared.
    func postpone(_ row: ClaimedRow, trouble: String, by pause: Duration) -> SQL {
        update([row], "trouble = \(.text(trouble)), due_at = now() + \(pause)")
    }

    /// Clears processed rows. In other queues the statement that records an outcome does so.
    func clear(_ rows: [ClaimedRow]) -> SQL { update(rows, Self.cleared) }

    /// Returns the row's publisher.
    func replay(_ key: ClaimedRow.Key, in scope: OpsScope, onlyParked: Bool) -> SQL {
        let form = form
        let isParked: SQL = onlyParked ? "q.parked_at IS NOT NULL" : "true"
        let sql: SQL = """
            UPDATE \(unescaped: form.table) q
            SET \(Self.cleared), trouble = NULL, parked_at = NULL, due_at = now()\(form.aside(false))
            FROM \(ClaimedRow.Key.table([key]), as: "i")
            WHERE \(form.isKey) AND \(isParked) AND \(scope.includes(form.publisher))
            RETURNING \(form.publisher)
            """
        return sql.plannedAnew
    }
}

extension WorkQueue.Form {
    /// Condition that a row `q` has the key of `i`.
    fileprivate var isKey: SQL {
        switch key {
        case .subscription: .sameSubscription("q", "i")
        case .id: .sameID("q", "i")
        }
    }

    fileprivate var free: SQL { hasOwner ? "owner = NULL, " : "" }

    fileprivate var untried: SQL {
        guard let attempts else { return "" }
        return "\(unescaped: attempts) = greatest(q.\(unescaped: attempts) - 1, 0), "
    }

    fileprivate func aside(_ standsAside: Bool) -> SQL {
        isOrdered ? standsAside ? ", stands_aside = true" : ", stands_aside = false" : ""
    }
}
