import Foundation
import Postgres

/// What endpoints were sent of customers, held against what must be true of it.
struct ToldHistory: Sendable {
    /// A message as it was queued.
    struct Message: Sendable {
        var path: String
        var lane: String
        /// Greater is newer, of one endpoint and customer.
        var sequence: Int64
        var queuedAt: Date
    }

    /// From a newer state's being queued: what was claimed before has this long to begin, and gets no lease that is longer.
    private static let stragglers: TimeInterval = 8

    private struct Lane: Hashable {
        var path: String
        var username: String
    }

    let arrivals: [ToldEndpoints.Arrival]
    private let lanes: [Lane: [ToldEndpoints.Arrival]]
    /// By the digits of their ids that are random.
    let messages: [String: Message]
    /// By username, what was shown, in order.
    let states: [String: [ChaosLife.State]]

    init(
        _ arrivals: [ToldEndpoints.Arrival], _ states: [String: [ChaosLife.State]], _ database: TestDatabase
    ) async throws {
        self.arrivals = arrivals
        lanes = Dictionary(grouping: arrivals) {
            Lane(path: $0.path, username: $0.json["applicationUsername"].string ?? "")
        }
        self.states = states
        let rows = try await database.query(
            SQL(
                """
                SELECT replace(d.id::text, '-', ''), substring(e.url FROM '/[a-z]+$'), d.lane, d.sequence,
                       (extract(epoch FROM d.created_at) * 1000000)::int8
                FROM webhook_deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint
                """))
        messages = try Dictionary(
            rows.map { row in
                let message = Message(
                    path: try row.get(1), lane: try row.get(2), sequence: try row.get(3),
                    queuedAt: Date(timeIntervalSince1970: Double(try row.get(4, as: Int64.self)) / 1_000_000))
                return (try row.get(0), message)
            }, uniquingKeysWith: { $1 })
    }

    var violations: [String] {
        var violations = arrivals.filter { !$0.isSigned }.map { "the signature of \($0.id) is wrong" }
        for (id, tries) in Dictionary(grouping: arrivals, by: \.id) where Set(tries.map(\.body)).count > 1 {
            violations.append("\(id) came with \(Set(tries.map(\.body)).count) bodies: \(tries.map(\.body))")
        }
        for username in states.keys.sorted() {
            for path in [ToldEndpoints.steady, ToldEndpoints.moody] {
                violations += judged(path, username).map { "\(username) at \(path): \($0)" }
            }
        }
        return violations
    }

    /// The last one that came.
    func last(_ path: String, _ username: String) -> ToldEndpoints.Arrival? { lane(path, username).last }

    private func lane(_ path: String, _ username: String) -> [ToldEndpoints.Arrival] {
        lanes[Lane(path: path, username: username)] ?? []
    }

    private func judged(_ path: String, _ username: String) -> [String] {
        var violations: [String] = []
        var (newest, place) = (Int64.min, 0)
        let known = states[username] ?? []
        let queued = messages.values.filter { $0.path == path && $0.lane == username }
        for arrival in lane(path, username) {
            guard let message = messages[String(arrival.id.suffix(32))], message.path == path else {
                violations.append("\(arrival.id) was never queued for it")
                continue
            }
            if arrival.isLate { continue }
            if message.sequence < newest {
                violations.append("state \(message.sequence) came after \(newest) (\(arrival.id))")
            }
            newest = max(newest, message.sequence)
            // By what it says: a state that was shown at that time or later than the one before it.
            let state = ChaosLife.State(arrival.json["purchases"])
            if let found = known[place...].firstIndex(of: state) {
                place = found
            } else {
                let was = known.firstIndex(of: state).map { "of step \($0)" } ?? "that never was"
                violations.append("after step \(place) of \(known.count) came a state \(was): \(state) (\(arrival.id))")
            }
            let overtaken = queued.filter { $0.sequence > message.sequence }.map(\.queuedAt).min()
            if let overtaken, arrival.at.timeIntervalSince(overtaken) > Self.stragglers {
                violations.append(
                    "\(arrival.id) was sent \(arrival.at.timeIntervalSince(overtaken)) s after a newer state was queued"
                )
            }
        }
        return violations
    }
}
