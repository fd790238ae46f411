import Foundation
import Postgres
import RelayCore

extension Evidence {
    /// Looks everywhere. To be asked once nothing moves any more.
    init(_ load: ChaosLoad, _ scene: ChaosScene) async throws {
        for (transaction, bought) in load.bought {
            posts += bought.posts
            if bought.ids.isEmpty { refused.append(transaction) } else { accepted[transaction] = bought.ids }
        }
        sequences = load.sequences
        try await read(scene.day.database)
        before = Dictionary(validations.map { ($0.transaction, $0.status) }, uniquingKeysWith: { $1 })
        told = try await Self.answers(to: accepted.values.flatMap { $0 }, scene)
        try await read(scene.day.database)
        try await read(scene.day.control)
    }

    /// One plain poll for each, as an app would.
    private static func answers(to ids: [String], _ scene: ChaosScene) async throws -> [String: String] {
        try await withThrowingTaskGroup(of: [String: String].self) { group in
            let share = max(1, (ids.count + 7) / 8)
            for start in stride(from: 0, to: ids.count, by: share) {
                group.addTask {
                    var answers: [String: String] = [:]
                    for (turn, id) in ids[start..<min(start + share, ids.count)].enumerated() {
                        guard let front = scene.front(turn) else { continue }
                        let answer = try await AppClient.poll(id, of: front)
                        answers[id] = answer.json["status"].string ?? "HTTP \(answer.status)"
                    }
                    return answers
                }
            }
            return try await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: { $1 }) }
        }
    }

    private mutating func read(_ database: TestDatabase) async throws {
        let rows = try await database.query(
            SQL(
                """
                SELECT transaction_id, subscription_key, customer, (extract(epoch FROM accepted_at) * 1000000)::int8,
                       (extract(epoch FROM settled_at) * 1000000)::int8,
                       CASE WHEN status = 0 AND deadline <= now() THEN 3::int2 ELSE status END,
                       EXISTS (SELECT FROM timeline t
                               WHERE t.bucket = v.bucket AND t.accepted_on = v.accepted_on AND t.id = v.id AND t.event = $1),
                       late
                FROM validations v
                ORDER BY accepted_at, id
                """, [.int2(TimelineEvent.Kind.superseded.rawValue)]))
        let now = try await database.query(SQL("SELECT (extract(epoch FROM now()) * 1000000)::int8"))
        gatheredAt = try now.first?.get(0) ?? 0
        validations = try rows.map { row in
            Validation(
                transaction: try row.get(0), subscription: try row.get(1), customer: try row.get(2),
                acceptedAt: try row.get(3), settledAt: try row.get(4),
                status: ValidationStatus(rawValue: try row.get(5)) ?? .pending,
                wasSuperseded: try row.get(6), isLate: try row.get(7))
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
                transaction: receipt["transactionId"].string ?? "",
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
