import Foundation
import Postgres
import RelayCore

extension ChaosRow {
    /// Returns once Cleeng has no pending grants, every purchase was sent, no poll says `pending`, and the newest request of each subscription is
    /// granted.
    static func rest(_ scene: ChaosScene, within limit: Duration) async throws {
        // A customer whom Cleeng entitled before may be granted while Cleeng still moves the subscription.
        try await Awaiting.fact("Cleeng has granted all that waits", is: 0, within: limit) {
            try await scene.day.control.stats()["pendingGrants"].int
        }
        let database = scene.day.database
        try await Awaiting.fact("no validation is pending, unsent, or the newest and not granted", within: limit) {
            let rows = try await database.query(
                SQL(
                    """
                    SELECT count(*) FROM (
                        SELECT v.status, v.deadline, p.phase, row_number() OVER (
                            PARTITION BY v.subscription_key ORDER BY v.accepted_at DESC, v.id DESC) AS place
                        FROM validations v LEFT JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id) AS a
                    WHERE status = 0 AND deadline > now() OR phase = 0 OR place = 1 AND status <> 1
                    """))
            try await Task.sleep(for: .milliseconds(150))
            return try rows.first?.get(0, as: Int.self) ?? -1
        } holds: {
            $0 == 0
        }
    }

    /// The last grant of a purchase accepted before the end of the fault, and the time from that end to it. Both times
    /// are from this machine's clock.
    static func lastGrant(
        _ evidence: Evidence, since end: Date
    ) -> (after: Duration, purchase: Evidence.Validation)? {
        let moment = Int64(end.timeIntervalSince1970 * 1_000_000)
        let granted = evidence.validations.filter { $0.acceptedAt <= moment && $0.status == .granted }
        guard let last = granted.max(by: { $0.settledAt ?? 0 < $1.settledAt ?? 0 }), let at = last.settledAt else {
            return nil
        }
        return (.microseconds(max(0, at - moment)), last)
    }

    /// Every request for a subscription with its timeline, one event a line. It shows what a late grant waited for, or
    /// why the wrong customer owns it.
    static func timelines(of subscription: String, in database: TestDatabase) async throws -> String {
        let rows = try await database.query(
            SQL(
                """
                SELECT to_char(at, 'MI:SS.MS') || ' ' || customer || ' ' || id AS request, event, answer
                FROM (SELECT v.accepted_at AS at, v.customer, left(v.id::text, 8) AS id, NULL::int2 AS event,
                             'accepted, with a deadline at ' || to_char(v.deadline, 'MI:SS.MS') AS answer, 0 AS fence
                      FROM validations v WHERE v.subscription_key = $1
                      UNION ALL
                      SELECT t.at, v.customer, left(v.id::text, 8), t.event,
                             concat_ws(' ', t.upstream_status, t.latency_ms || ' ms', t.detail), t.fence
                      FROM validations v
                      JOIN timeline t ON t.bucket = v.bucket AND t.accepted_on = v.accepted_on AND t.id = v.id
                      WHERE v.subscription_key = $1) AS a
                ORDER BY at, fence
                """, [.text(subscription)]))
        return try rows.map { row in
            let request: String = try row.get("request")
            let event = try row.get("event", as: Int16?.self).flatMap(TimelineEvent.Kind.init)
            let answer: String = try row.get("answer")
            return "\(request) \(event.map { "\($0) " } ?? "")\(answer)"
        }.joined(separator: "\n")
    }
}
