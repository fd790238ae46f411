import Foundation
import Postgres

/// Checks of the messages that endpoints received about customers.
struct ToldHistory: Sendable {
    /// A queued message.
    struct Message: Sendable {
        var path: String
        var lane: String
        /// Order among the messages of one endpoint and customer; a newer one is greater.
        var sequence: Int64
        var queuedAt: Date
    }

    /// Seconds in which an older state may still arrive after a newer one was queued. A message that was claimed before
    /// may start late, and no lease lasts longer.
    private static let stragglers: TimeInterval = 8

    private struct Lane: Hashable {
        var path: String
        var username: String
    }

    let arrivals: [ToldEndpoints.Arrival]
    private let lanes: [Lane: [ToldEndpoints.Arrival]]
    /// Messages by the random digits of their ids.
    let messages: [String: Message]
    /// States that were shown, by username, in order.
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

    /// The last arrival.
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
            // Its state must be the one found last or a later one.
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
