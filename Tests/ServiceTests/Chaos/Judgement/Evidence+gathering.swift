import Foundation
import Postgres
import RelayCore

extension Evidence {
    /// Reads the apps' results, the database and the simulator. Nothing may change any more.
    init(_ load: ChaosLoad, _ scene: ChaosScene) async throws {
        for (transaction, bought) in load.bought {
            posts += bought.posts
            if bought.ids.isEmpty { refused.append(transaction) } else { accepted[transaction] = bought.ids }
        }
        oddAnswers = load.oddAnswers
        sequences = load.sequences
        try await read(scene.day.database)
        before = Dictionary(validations.map { ($0.id, $0.status) }, uniquingKeysWith: { $1 })
        told = try await Self.answers(to: accepted.values.flatMap { $0 }, scene)
        try await read(scene.day.database)
        try await read(scene.day.control)
    }

    /// One plain poll for each id, like an app's.
    private static func answers(to ids: [String], _ scene: ChaosScene) async throws -> [String: String] {
        try await withThrowingTaskGroup(of: [String: String].self) { group in
            let share = max(1, (ids.count + 7) / 8)
            for start in stride(from: 0, to: ids.count, by: share) {
                group.addTask {
                    var answers: [String: String] = [:]
                    for (turn, id) in ids[start..<min(start + share, ids.count)].enumerated() {
                        guard let front = scene.front(turn) else { continue }
                        answers[id] = try await Self.answer(id, front)
                    }
                    return answers
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: { $1 }) }
        }
    }

    /// Polls again after 503, like an app: a copy may not have its database yet.
    private static func answer(_ id: String, _ front: Relay) async throws -> String {
        var answer = try await AppClient.poll(id, of: front)
        for _ in 0..<50 where answer.status == 503 {
            try await Task.sleep(for: .milliseconds(200))
            answer = try await AppClient.poll(id, of: front)
        }
        return answer.json["status"].string ?? "HTTP \(answer.status)"
    }

    private mutating func read(_ database: TestDatabase) async throws {
        let rows = try await database.query(
            SQL(
                """
                SELECT lpad(to_hex(bucket::int4), 2, '0') || lpad(to_hex(accepted_on - DATE 'epoch'), 4, '0')
                           || replace(id::text, '-', '') AS id,
                       coalesce(coupon_code, '') AS post, transaction_id, subscription_key, customer,
                       (extract(epoch FROM accepted_at) * 1000000)::int8 AS accepted_at,
                       (extract(epoch FROM settled_at) * 1000000)::int8 AS settled_at,
                       (extract(epoch FROM least(
                           CASE WHEN late OR status IN (0, 3) AND deadline <= now() THEN deadline END,
                           (SELECT min(at) FROM timeline t
                            WHERE t.bucket = v.bucket AND t.accepted_on = v.accepted_on AND t.id = v.id
                              AND t.event BETWEEN 2 AND 7))) * 1000000)::int8 AS ended_at,
                       CASE WHEN status = 0 AND deadline <= now() THEN 3::int2 ELSE status END AS status,
                       EXISTS (SELECT FROM timeline t
                               WHERE t.bucket = v.bucket AND t.accepted_on = v.accepted_on AND t.id = v.id
                                 AND t.event = $1) AS superseded,
                       late
                FROM validations v
                ORDER BY accepted_at, id
                """, [.int2(TimelineEvent.Kind.superseded.rawValue)]))
        let now = try await database.query(SQL("SELECT (extract(epoch FROM now()) * 1000000)::int8"))
        gatheredAt = try now.first?.get(0) ?? 0
        validations = try rows.map { row in
            Validation(
                id: try row.get("id"), post: try row.get("post"), transaction: try row.get("transaction_id"),
                subscription: try row.get("subscription_key"), customer: try row.get("customer"),
                acceptedAt: try row.get("accepted_at"), settledAt: try row.get("settled_at"),
                endedAt: try row.get("ended_at"),
                status: ValidationStatus(rawValue: try row.get("status")) ?? .pending,
                wasSuperseded: try row.get("superseded"), isLate: try row.get("late"))
        }
        ours = try await database.query(SQL("SELECT subscription_key, customer FROM subscriptions"))
            .map { Owner(subscription: try $0.get(0), customer: try $0.get(1)) }
    }

    private mutating func read(_ control: SimulatorControl) async throws {
        let payments = try await control.payments()
        guard try await control.stats()["payments"].int == payments.count else {
            throw HarnessError.failed("reading the upstream's log", ["it is longer than what was shown of it"])
        }
        forwards = payments.map { payment in
            let receipt = payment.json["body"]["receipt"]
            return Forward(
                post: payment.json["body"]["couponCode"].string ?? "",
                subscription: receipt["receiptData"]["originalTransactionId"].string ?? "", status: payment.status,
                overlapped: payment.json["overlappedWithSamePurchase"].bool ?? true)
        }
        upstreams = try await control.subscriptions().compactMap { subscription in
            guard let key = subscription["originalTransactionId"].string,
                let customer = subscription["customerEmail"].string, subscription["status"].string == "active"
            else { return nil }
            return Owner(subscription: key, customer: customer)
        }
    }
}
