import RelayCore
import RelayStore

/// What this process knows of each endpoint, and how its places are shared out. Knows nothing of time, tasks or databases.
struct EndpointDesks: Sendable {
    struct Desk: Sendable {
        var endpoint: WebhookEndpoint
        var breaker: CircuitBreaker
        var standing: EndpointStanding
        var running = 0
    }

    /// What may be taken up of one endpoint now.
    struct Turn: Sendable {
        var endpoint: WebhookEndpoint
        var admission: CircuitBreaker.Admission
        var room: Int
    }

    private let rooms: EndpointRooms
    private(set) var desks: [EndpointID: Desk] = [:]

    init(rooms: EndpointRooms) {
        self.rooms = rooms
    }

    var running: Int { desks.values.reduce(0) { $0 + $1.running } }
    var hasOpen: Bool { desks.values.contains { $0.breaker.state != .closed } }

    /// Brings it in step with the table. What still runs for an endpoint that is gone keeps its place until it ends.
    mutating func refresh(_ endpoints: [WebhookEndpoint], at now: Timestamp) {
        var next: [EndpointID: Desk] = [:]
        for endpoint in endpoints {
            var desk =
                desks[endpoint.id]
                ?? Desk(
                    endpoint: endpoint, breaker: CircuitBreaker(settings: DeliverySettings.breaker, since: now),
                    standing: endpoint.standing)
            desk.endpoint = endpoint
            desk.standing = endpoint.standing
            next[endpoint.id] = desk
        }
        for (id, desk) in desks where next[id] == nil && desk.running > 0 {
            var gone = desk
            gone.standing = EndpointStanding(isDisabled: true)
            next[id] = gone
        }
        desks = next
    }

    /// Of every endpoint that takes messages what there is room for; of one whose breaker is open a probe, where it is time for one.
    mutating func turns(at now: Timestamp, jitter: () -> Double) -> [EndpointID: Turn] {
        var taken = running
        var turns: [EndpointID: Turn] = [:]
        // Whoever comes first may have more: not always the same one.
        for id in desks.keys.shuffled() {
            guard var desk = desks[id], !desk.standing.isDisabled else { continue }
            var room = rooms.room(taken: taken, own: desk.running, allowance: desk.breaker.allowance)
            var admission = room > 0 ? desk.breaker.admission() : nil
            if admission == nil, desk.breaker.state != .closed, rooms.room(taken: taken, own: desk.running) > 0 {
                admission = desk.breaker.probe(at: now, jitter: jitter())
                room = 1
                desks[id] = desk
            }
            guard let admission, room > 0 else { continue }
            taken += room
            turns[id] = Turn(endpoint: desk.endpoint, admission: admission, room: room)
        }
        return turns
    }

    mutating func began(_ id: EndpointID) { desks[id]?.running += 1 }
    mutating func ended(_ id: EndpointID) { desks[id]?.running -= 1 }

    /// - Returns: whether its breaker was closed before, and is now.
    mutating func heard(
        _ result: CallResult?, of id: EndpointID, _ admission: CircuitBreaker.Admission, at now: Timestamp,
        jitter: Double
    ) -> (wasClosed: Bool, isClosed: Bool) {
        guard var desk = desks[id] else { return (true, true) }
        let wasClosed = desk.breaker.state == .closed
        desk.breaker.ended(admission, result, at: now, jitter: jitter)
        desks[id] = desk
        return (wasClosed, desk.breaker.state == .closed)
    }

    /// What is to be written of how it does.
    mutating func standing(
        of id: EndpointID, after verdict: WebhookResult.Verdict, at now: Timestamp
    ) -> EndpointStanding.Change? {
        desks[id]?.standing.heard(verdict, at: now)
    }
}
