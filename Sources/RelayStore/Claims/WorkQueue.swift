import Postgres

/// What is claimed besides purchases. All have the columns `due_at`, `fence`, `strikes`, `failures`, `trouble` and `parked_at`. Each claim raises the
/// fence, so that only the holder of the newest one writes a row.
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

    /// In a claim: giving the row back clears the strike.
    static func strike(_ row: SQL) -> SQL { "strikes = least(\(row).strikes + 1, 1000)" }

    /// Written when a processed row is given back.
    static let cleared: SQL = "strikes = 0, failures = 0"

    /// What a claim returns of them.
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

    /// Never due: copies of the version before leave it alone too.
    private var never: SQL {
        switch self {
        case .webhooks, .notifications, .questions, .consumption: "'infinity'"
        case .events, .subscriptions: "NULL"
        }
    }

    /// Changes rows as long as this process holds them. One that was given back already has no strikes. The server plans
    /// it each time: a plan made while the queue is empty would read the whole table once it is full.
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

    /// - Parameter pause: nil: it is parked. Of one subscription the later ones pass a notification that is.
    func fail(_ row: ClaimedRow, why: String, pause: Duration?) -> SQL {
        let failed: SQL = "\(free)strikes = 0, failures = least(q.failures + 1, 1000), trouble = \(.text(why))"
        if let pause { return update([row], "\(failed), due_at = now() + \(pause)") }
        let aside: SQL = self == .notifications ? ", stands_aside = true" : ""
        return update([row], "\(failed), parked_at = now(), due_at = \(never)\(aside)")
    }

    /// - Parameter keepsStrikes: those that the row had before the claim. Of a ledger that was looked at, the next look stays as it was
    ///   written.
    func giveBack(_ rows: [ClaimedRow], after pause: Duration, keepsStrikes: Bool) -> SQL {
        let due: SQL = self == .subscriptions && !keepsStrikes ? "" : ", due_at = now() + \(pause)"
        let strikes: SQL = keepsStrikes ? "q.strikes - 1" : "0"
        return update(rows, "\(free)\(untried)strikes = \(strikes)\(due)")
    }

    /// The claim lasts until it is cleared.
    func postpone(_ row: ClaimedRow, trouble: String, by pause: Duration) -> SQL {
        update([row], "trouble = \(.text(trouble)), due_at = now() + \(pause)")
    }

    /// Clears rows that were processed, where no other statement does.
    func clear(_ rows: [ClaimedRow]) -> SQL { update(rows, Self.cleared) }

    /// Returns whose it is.
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
