import Postgres

/// The queues besides pursuits. All have the columns `due_at`, `fence`, `strikes`, `failures`, `trouble` and
/// `parked_at`. Each claim raises the fence, so that only the holder of the newest claim can write a row.
public enum WorkQueue: String, Sendable, CaseIterable {
    case events, webhooks, notifications, subscriptions, questions, consumption

    var table: String {
        switch self {
        case .events: "cleeng_events"
        case .webhooks: "webhook_queue"
        case .notifications: "notification_relays"
        case .subscriptions: "ledgers"
        case .questions: "store_questions"
        case .consumption: "consumption_requests"
        }
    }

    /// Publisher of a row `q`. An event of the shared account has none: only ``OpsScope/all`` includes it.
    var publisher: SQL {
        switch self {
        case .events: "q.account"
        case .webhooks: "(SELECT e.publisher FROM webhook_endpoints e WHERE e.id = q.endpoint)"
        case .notifications, .subscriptions, .questions, .consumption: "q.publisher"
        }
    }

    /// Adds a strike in a claim; releasing the row clears it.
    static func strike(_ row: SQL) -> SQL { "strikes = least(\(row).strikes + 1, 1000)" }

    /// Written when a processed row is released.
    static let cleared: SQL = "strikes = 0, failures = 0"

    /// Columns that a claim returns.
    static func columns(_ row: SQL) -> SQL { "\(row).strikes, \(row).failures, \(row).trouble" }

    private var isKey: SQL {
        switch self {
        case .subscriptions, .questions:
            """
            q.bucket = i.bucket AND q.publisher = i.publisher AND q.environment = i.environment
              AND q.subscription_key = i.subscription_key
            """
        case .events, .webhooks, .notifications, .consumption:
            "q.bucket = i.bucket AND q.accepted_on = DATE 'epoch' + i.day AND q.id = i.id"
        }
    }

    private var free: SQL {
        switch self {
        case .webhooks, .notifications, .questions, .consumption: "owner = NULL, "
        case .events, .subscriptions: ""
        }
    }

    private var untried: SQL {
        switch self {
        case .webhooks: "tries = greatest(q.tries - 1, 0), "
        case .events, .notifications, .questions, .consumption: "attempts = greatest(q.attempts - 1, 0), "
        case .subscriptions: ""
        }
    }

    /// A time that never comes. Copies of the previous version respect it too.
    private var never: SQL {
        switch self {
        case .webhooks, .notifications, .questions, .consumption: "'infinity'"
        case .events, .subscriptions: "NULL"
        }
    }

    /// Updates rows that this process still holds. A row that was already released has no strikes. The server plans the
    /// statement each time: a plan made while the queue is empty would read the whole table once it is full.
    private func update(_ rows: [ClaimedRow], _ changes: SQL) -> SQL {
        let held = ClaimedRow.Key.table(rows.map(\.key)) + ["fence": .int4Array(rows.map(\.fence))]
        let sql: SQL = """
            UPDATE \(unescaped: table) q
            SET \(changes)
            FROM \(held, as: "i")
            WHERE \(isKey) AND q.fence = i.fence AND q.strikes > 0
            """
        return sql.plannedAnew
    }

    /// - Parameter pause: nil: the row is parked. Later notifications of a subscription no longer wait for a parked
    ///   one.
    func fail(_ row: ClaimedRow, why: String, pause: Duration?) -> SQL {
        let failed: SQL = "\(free)strikes = 0, failures = least(q.failures + 1, 1000), trouble = \(.text(why))"
        if let pause { return update([row], "\(failed), due_at = now() + \(pause)") }
        let aside: SQL = self == .notifications ? ", stands_aside = true" : ""
        return update([row], "\(failed), parked_at = now(), due_at = \(never)\(aside)")
    }

    /// - Parameter keepsStrikes: keeps the strikes from before the claim. Otherwise, a ledger keeps the due time that
    ///   was written for its next look.
    func giveBack(_ rows: [ClaimedRow], after pause: Duration, keepsStrikes: Bool) -> SQL {
        let due: SQL = self == .subscriptions && !keepsStrikes ? "" : ", due_at = now() + \(pause)"
        let strikes: SQL = keepsStrikes ? "q.strikes - 1" : "0"
        return update(rows, "\(free)\(untried)strikes = \(strikes)\(due)")
    }

    /// The claim remains until it is cleared.
    func postpone(_ row: ClaimedRow, trouble: String, by pause: Duration) -> SQL {
        update([row], "trouble = \(.text(trouble)), due_at = now() + \(pause)")
    }

    /// Clears processed rows, if no other statement does.
    func clear(_ rows: [ClaimedRow]) -> SQL { update(rows, Self.cleared) }

    /// Returns the row's publisher.
    func replay(_ key: ClaimedRow.Key, in scope: OpsScope, onlyParked: Bool) -> SQL {
        let aside: SQL = self == .notifications ? ", stands_aside = false" : ""
        let isParked: SQL = onlyParked ? "q.parked_at IS NOT NULL" : "true"
        let sql: SQL = """
            UPDATE \(unescaped: table) q
            SET \(Self.cleared), trouble = NULL, parked_at = NULL, due_at = now()\(aside)
            FROM \(ClaimedRow.Key.table([key]), as: "i")
            WHERE \(isKey) AND \(isParked) AND \(scope.includes(publisher))
            RETURNING \(publisher)
            """
        return sql.plannedAnew
    }
}
