/// What is claimed besides purchases. All have the columns `due_at`, `strikes`, `failures`, `trouble` and `parked_at`.
public enum WorkQueue: String, Sendable, CaseIterable {
    case events, webhooks, notifications, subscriptions

    var table: String {
        switch self {
        case .events: "cleeng_events"
        case .webhooks: "webhook_queue"
        case .notifications: "notification_relays"
        case .subscriptions: "ledgers"
        }
    }

    /// Whose a row `q` is. An event of the account that publishers share is nobody's: only ``OpsScope/all`` has it.
    var publisher: String {
        switch self {
        case .events: "q.account"
        case .webhooks: "(SELECT e.publisher FROM webhook_endpoints e WHERE e.id = q.endpoint)"
        case .notifications, .subscriptions: "q.publisher"
        }
    }

    /// In a claim: giving the row back clears the strike.
    static func strike(_ row: String) -> String { "strikes = least(\(row).strikes + 1, 1000)" }

    /// Written when a processed row is given back.
    static let cleared = "strikes = 0, failures = 0"

    /// What a claim returns of them.
    static func columns(_ row: String) -> String { "\(row).strikes, \(row).failures, \(row).trouble" }

    /// What rises with every claim, so that only its holder writes a row.
    private var fence: String {
        switch self {
        case .webhooks, .notifications: "q.fence"
        case .events: "q.attempts"
        case .subscriptions: "q.strikes"
        }
    }

    /// The fences are `$1`.
    ///
    /// - Parameter first: the first parameter of the keys.
    private func rows(from first: Int) -> String {
        switch self {
        case .subscriptions:
            """
            unnest($1::int4[], $\(first)::int2[], $\(first + 1)::text[], $\(first + 2)::text[], $\(first + 3)::text[])
                 AS i(fence, bucket, publisher, environment, subscription_key)
            """
        case .events, .webhooks, .notifications:
            "unnest($1::int4[], $\(first)::int2[], $\(first + 1)::int4[], $\(first + 2)::uuid[]) AS i(fence, bucket, day, id)"
        }
    }

    private var isKey: String {
        switch self {
        case .subscriptions:
            """
            q.bucket = i.bucket AND q.publisher = i.publisher AND q.environment = i.environment
              AND q.subscription_key = i.subscription_key
            """
        case .events, .webhooks, .notifications:
            "q.bucket = i.bucket AND q.accepted_on = DATE 'epoch' + i.day AND q.id = i.id"
        }
    }

    /// One that was given back already has no strikes.
    private var isHeld: String { "\(isKey) AND \(fence) = i.fence AND q.strikes > 0" }

    private var free: String {
        switch self {
        case .webhooks, .notifications: "owner = NULL, "
        case .events, .subscriptions: ""
        }
    }

    private var untried: String {
        switch self {
        case .webhooks: "tries = greatest(q.tries - 1, 0), "
        case .events, .notifications: "attempts = greatest(q.attempts - 1, 0), "
        case .subscriptions: ""
        }
    }

    /// Never due: copies of the version before leave it alone too.
    private var never: String {
        switch self {
        case .webhooks, .notifications: "'infinity'"
        case .events, .subscriptions: "NULL"
        }
    }

    /// Of one subscription the later ones pass a notification that stands aside.
    private var aside: String {
        self == .notifications ? ", stands_aside = q.stands_aside OR $2::int8 IS NULL" : ""
    }

    /// `$2` is the pause, NULL where it is parked; `$3` the reason.
    var failSQL: String {
        """
        UPDATE \(table) q
        SET \(free)strikes = 0, failures = least(q.failures + 1, 1000), trouble = $3,
            parked_at = CASE WHEN $2::int8 IS NULL THEN now() ELSE q.parked_at END,
            due_at = CASE WHEN $2::int8 IS NULL THEN \(never) ELSE now() + $2 * interval '1 microsecond' END\(aside)
        FROM \(rows(from: 4))
        WHERE \(isHeld)
        """
    }

    /// `$2` is the pause; `$3` keeps the strikes that the row had before the claim. Of a ledger that was looked at, the next look
    /// stays as it was written.
    var giveBackSQL: String {
        let due = "now() + $2::int8 * interval '1 microsecond'"
        return """
            UPDATE \(table) q
            SET \(free)\(untried)strikes = CASE WHEN $3 THEN q.strikes - 1 ELSE 0 END,
                due_at = \(self == .subscriptions ? "CASE WHEN $3 THEN \(due) ELSE q.due_at END" : due)
            FROM \(rows(from: 4))
            WHERE \(isHeld)
            """
    }

    /// Of rows that were processed, where no other statement says so.
    var clearSQL: String {
        "UPDATE \(table) q SET \(Self.cleared) FROM \(rows(from: 2)) WHERE \(isHeld)"
    }

    /// `$2`: only where it is parked; `$3`: the scope. Returns whose it is.
    var replaySQL: String {
        """
        UPDATE \(table) q
        SET \(Self.cleared), trouble = NULL, parked_at = NULL, due_at = now()\(self == .notifications ? ", stands_aside = false" : "")
        FROM \(rows(from: 4))
        WHERE \(isKey) AND (NOT $2 OR q.parked_at IS NOT NULL) AND \(OpsScope.sql(publisher, 3))
        RETURNING \(publisher)
        """
    }
}
