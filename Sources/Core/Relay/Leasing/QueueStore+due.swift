import Postgres
import RelayCore

/// Kinds of work whose loops sleep until something is due.
public enum DueWork: Int16, Sendable, CaseIterable {
    case purchases, customers, events, notifications, subscriptions, webhooks, questions, consumption

    /// Condition that any copy has a row due at a moment. Indexes used: those on `due_at`, and on publisher or endpoint
    /// and `due_at`.
    fileprivate func isDue(at moment: SQL) -> SQL {
        switch self {
        case .purchases:
            """
            (SELECT true FROM \(PublisherScope.publishers)
             CROSS JOIN \(["phase": .int2Array(PurchaseStore.worked.map(\.rawValue))] as SQLTable, as: "i")
             WHERE \(PurchaseStore.hasDue(at: moment)) LIMIT 1)
            """
        case .customers: "(SELECT true FROM customers c WHERE c.untold_since <= \(moment) LIMIT 1)"
        case .events: "(SELECT true FROM cleeng_events e WHERE e.due_at <= \(moment) LIMIT 1)"
        case .notifications:
            """
            (SELECT true FROM \(PublisherScope.publishers)
             WHERE (SELECT true FROM notification_relays r WHERE r.publisher = pub.id AND r.due_at <= \(moment) AND r.parked_at IS NULL
                    LIMIT 1) LIMIT 1)
            """
        case .subscriptions: "(SELECT true FROM ledgers l WHERE l.due_at <= \(moment) LIMIT 1)"
        case .questions:
            """
            (SELECT true FROM \(["store": .textArray(StorePlatform.asked.map(\.rawValue))] as SQLTable, as: "i")
             WHERE (SELECT true FROM store_questions q WHERE q.store = i.store AND q.due_at <= \(moment) AND q.parked_at IS NULL
                    AND q.attempts <= 3 LIMIT 1)
                OR (SELECT true FROM store_questions q WHERE q.store = i.store AND q.due_at <= \(moment) AND q.parked_at IS NULL
                    AND q.attempts > 3 LIMIT 1) LIMIT 1)
            """
        case .consumption:
            """
            (SELECT true FROM \(["environment": .textArray(ConsumptionStore.environments)] as SQLTable, as: "i")
             WHERE (SELECT true FROM consumption_requests r WHERE r.environment = i.environment AND r.due_at <= \(moment)
                    AND r.state <= 2 AND r.parked_at IS NULL LIMIT 1) LIMIT 1)
            """
        case .webhooks:
            """
            (SELECT true FROM webhook_endpoints e WHERE \(Self.hasDueMessage(at: moment)) LIMIT 1)
            """
        }
    }

    /// Condition on an endpoint `e`. Index used: `webhook_queue_due`.
    static func hasDueMessage(at moment: SQL) -> SQL {
        """
        (SELECT true FROM webhook_queue q WHERE q.endpoint = e.id AND q.due_at <= \(moment) AND q.parked_at IS NULL LIMIT 1)
        """
    }
}

/// Result of checking the queues for due work.
public struct DueLook: Sendable, Equatable {
    /// Kinds of due work.
    public var works: [DueWork]
    /// Whether no other copy has reported lately, so that none adds work.
    public var isAlone: Bool

    public init(works: [DueWork], isAlone: Bool) {
        self.works = works
        self.isAlone = isAlone
    }
}

extension QueueStore {
    /// Checks all kinds of work with one cheap statement, instead of a claim for each kind.
    ///
    /// - Parameter horizon: also counts work that becomes due within this time.
    public func due(within horizon: Duration = .zero) async throws -> DueLook {
        let looks: [SQL] = DueWork.allCases.map {
            "SELECT \(.int2($0.rawValue)) AS work WHERE \($0.isDue(at: "now() + \(horizon)"))"
        }
        let sent = ContinuousClock.now
        let rows = try await database.query(
            """
            SELECT array_agg(d.work) AS works, clock_timestamp() AS now,
                   (SELECT true FROM instances i
                    WHERE i.id <> \(.text(memory.instance)) AND i.seen_at > now() - \(InstanceReport.longestSilence)
                    LIMIT 1) IS NULL AS is_alone
            FROM (\(looks.joined(" UNION ALL "))) AS d
            """)
        guard let row = rows.first else { return DueLook(works: [], isAlone: false) }
        memory.clock.observe(try row.timestamp("now"), sent: sent)
        return DueLook(
            works: (try row.get("works", as: [Int16]?.self) ?? []).compactMap(DueWork.init),
            isAlone: try row.get("is_alone"))
    }
}
