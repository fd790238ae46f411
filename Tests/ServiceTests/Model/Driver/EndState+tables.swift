import Postgres
import RelayCore

extension Model.EndState {
    /// SQL for the public id of a row.
    private static func id(_ table: String, _ day: String = "accepted_on", _ id: String = "id") -> String {
        """
        lpad(to_hex(\(table).bucket::int4), 2, '0') || lpad(to_hex(\(table).\(day) - DATE 'epoch'), 4, '0')
        || replace(\(table).\(id)::text, '-', '')
        """
    }

    private static func epoch(_ column: String) -> String { "extract(epoch FROM \(column))::float8" }

    /// A grant that stands alone has the key `KEY#VALIDATION`, and a subscription of its own, which is none of the plan's.
    private static var rowsSQL: String {
        """
        SELECT \(id("v")), v.customer, split_part(v.subscription_key, '#', 1), v.transaction_id, v.coupon_code, \(epoch("v.accepted_at")),
               \(epoch("v.deadline")), \(epoch("v.settled_at")), v.status, v.reason, v.late, p.phase
        FROM validations v
        LEFT JOIN pursuits p ON p.bucket = v.bucket AND p.id = v.id
        ORDER BY v.accepted_at
        """
    }

    private static var eventsSQL: String {
        """
        SELECT \(id("t")), t.event, \(epoch("t.at")), \(epoch("t.recorded_at"))
        FROM timeline t
        ORDER BY t.bucket, t.accepted_on, t.id, t.fence, t.ordinal
        """
    }

    private static var ownersSQL: String {
        """
        SELECT s.subscription_key, s.customer, \(id("s"))
        FROM subscriptions s
        WHERE strpos(s.subscription_key, '#') = 0
        """
    }

    private static var transfersSQL: String {
        """
        SELECT r.subscription_key, r.from_customer, r.to_customer, \(id("r", "from_accepted_on", "from_id")),
               \(id("r", "to_accepted_on", "to_id")), \(epoch("r.at"))
        FROM transfers r
        """
    }

    func rows() async throws -> [Model.Row] {
        try await pool.query(SQL(Self.rowsSQL)).map { row in
            let email = try row.get(1, as: String.self)
            let purchase = Model.Purchase(email: email, original: try row.get(2), transactionID: try row.get(3))
            guard let purchase, let status = ValidationStatus(rawValue: try row.get(8, as: Int16.self)) else {
                throw HarnessError.failed("a validation is nobody's", [email])
            }
            return Model.Row(
                id: try row.get(0), purchase: purchase, coupon: try row.get(4, as: String?.self) ?? "",
                acceptedAt: seconds(try row.get(5)), deadline: seconds(try row.get(6)),
                settledAt: try row.get(7, as: Double?.self).map(seconds), status: status, reason: try row.get(9),
                late: try row.get(10),
                phase: try row.get(11, as: Int16?.self).flatMap { Pursuit.Phase(rawValue: $0) })
        }
    }

    func events() async throws -> [Model.Event] {
        try await pool.query(SQL(Self.eventsSQL)).map { row in
            let number = try row.get(1, as: Int16.self)
            guard let kind = TimelineEvent.Kind(rawValue: number) else {
                throw HarnessError.failed("an event of no known kind", ["\(number)"])
            }
            return Model.Event(
                id: try row.get(0), kind: kind, at: seconds(try row.get(2)), recordedAt: seconds(try row.get(3)))
        }
    }

    func owners() async throws -> [Model.Owner] {
        try await pool.query(SQL(Self.ownersSQL)).map { row in
            Model.Owner(
                subscription: try subscription(row.get(0)), customer: try customer(row.get(1)), id: try row.get(2))
        }
    }

    func transfers() async throws -> [Model.Transfer] {
        try await pool.query(SQL(Self.transfersSQL)).map { row in
            Model.Transfer(
                subscription: try subscription(row.get(0)), from: try customer(row.get(1)),
                to: try customer(row.get(2)), fromID: try row.get(3), toID: try row.get(4),
                at: seconds(try row.get(5)))
        }
    }

    private func seconds(_ epoch: Double) -> Model.Seconds { world.journal.seconds(epoch: epoch) }

    private func subscription(_ original: String) throws -> Int {
        guard let number = Model.Purchase.subscription(original) else {
            throw HarnessError.failed("a subscription is none of the plan's", [original])
        }
        return number
    }

    private func customer(_ email: String) throws -> Int {
        guard let number = Model.Purchase.customer(email) else {
            throw HarnessError.failed("a customer is none of the plan's", [email])
        }
        return number
    }
}
