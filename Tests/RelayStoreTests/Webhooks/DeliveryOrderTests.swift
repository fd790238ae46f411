import Postgres
import Relay
import RelayCore
import Testing

@Suite("A customer's states reach an endpoint in order; only the newest must")
struct DeliveryOrderTests {
    @Test("a newer state replaces an undelivered one of its endpoint and customer")
    func replaces() async throws {
        try await withStore { database, store in
            let (one, two) = (try await store.makeEndpoint(), try await store.makeEndpoint())
            let old = NewDelivery.state(one, 1)
            let others = [NewDelivery.state(two, 1), NewDelivery.state(one, "ben", 1)]
            try await database.enqueue(old, others[0], others[1])
            let new = NewDelivery.state(one, 2)
            try await database.enqueue(new)
            #expect(try await store.state(old) == .replaced)
            for other in others { #expect(try await store.state(other) == .waiting) }
            let claimed = try await store.webhooks.claim([one: 9, two: 9], lease: .seconds(60), mark: RelayStore.mark)
            #expect(Set(claimed.map(\.id)) == Set([new.id] + others.map(\.id)))
            #expect(claimed.first { $0.id == new.id }?.body?.value == new.body)
        }
    }

    @Test("a running try ends first; then the newer state is sent; a failed older one is not repeated")
    func underWay() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            for (outcome, end) in [
                (DeliveryOutcome.delivered, DeliveryState.delivered), (.again(after: .zero), .replaced),
                (.failed, .replaced),
            ] {
                let (old, new) = (NewDelivery.state(endpoint, 1), NewDelivery.state(endpoint, 2))
                try await database.enqueue(old)
                let first = try await store.webhooks.claim(endpoint)
                #expect(first.map(\.id) == [old.id])
                try await database.enqueue(new)
                #expect(try await store.state(old) == .waiting)
                #expect(try await store.webhooks.claim(endpoint).isEmpty)
                #expect(try await store.written(first[0], outcome) == .written(end))
                #expect(try await store.state(old) == end)
                let second = try await store.webhooks.claim(endpoint)
                #expect(second.map(\.id) == [new.id] && second.first?.isOvertaken == false)
                #expect(try await store.written(second[0], .delivered) == .written(.delivered))
                #expect(try await database.count("webhook_queue") == 0)
            }
        }
    }

    @Test("an overtaken one of a dead copy is claimed once before the newer one, and not sent")
    func deadCopy() async throws {
        try await withStores(2) { database, stores in
            let endpoint = try await stores[0].makeEndpoint()
            let (old, new) = (NewDelivery.state(endpoint, 1), NewDelivery.state(endpoint, 2))
            try await database.enqueue(old)
            let first = try await stores[0].webhooks.claim(endpoint)
            try await database.enqueue(new)
            #expect(try await stores[1].webhooks.claim(endpoint).isEmpty)
            try await database.endLeases()
            let again = try await stores[1].webhooks.claim(endpoint)
            #expect(again.map(\.id) == [old.id] && again.first?.isOvertaken == true)
            // The first copy continues, but its result no longer counts.
            #expect(try await stores[0].written(first[0], .delivered) == .leaseLost)
            #expect(try await stores[1].written(again[0], .failed) == .written(.replaced))
            #expect(try await stores[1].webhooks.claim(endpoint).map(\.id) == [new.id])
        }
    }

    @Test("a concurrent claim is waited for")
    func race() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            let (old, new) = (NewDelivery.state(endpoint, 1), NewDelivery.state(endpoint, 2))
            try await database.enqueue(old)
            let queued = try await database.hand.withTransaction { transaction in
                _ = try await transaction.query(
                    SQL("UPDATE webhook_queue SET owner = 'other', due_at = now() + interval '1 hour'"))
                let queued = Task { try await database.enqueue(new) }
                try await database.waitUntilBlocked()
                return queued
            }
            try await queued.value
            #expect(try await database.count("webhook_queue", where: "overtaken AND owner = 'other'") == 1)
            #expect(try await store.state(old) == .waiting)
            #expect(try await store.webhooks.claim(endpoint).isEmpty)
        }
    }

    @Test("a try that ends while a newer state is being queued sees that it was overtaken")
    func endRace() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            let (old, new) = (NewDelivery.state(endpoint, 1), NewDelivery.state(endpoint, 2))
            try await database.enqueue(old)
            let claimed = try await store.webhooks.claim(endpoint)
            let written = try await database.hand.withTransaction { transaction in
                _ = try await transaction.pipeline(DeliveryStatements.enqueue([new]))
                let written = Task { try await store.written(claimed[0], .again(after: .zero), status: 500) }
                try await database.waitUntilBlocked()
                return written
            }
            #expect(try await written.value == .written(.replaced))
            #expect(try await store.webhooks.claim(endpoint).map(\.id) == [new.id])
        }
    }

    @Test("a state queued after a newer one is only stored")
    func late() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            let (old, new) = (NewDelivery.state(endpoint, 1), NewDelivery.state(endpoint, 2))
            try await database.enqueue(new)
            try await database.enqueue(old)
            #expect(try await store.state(old) == .replaced)
            #expect(try await store.webhooks.claim(endpoint).map(\.id) == [new.id])
            // Of the states that one transaction makes, only the newest is stored.
            let both = [NewDelivery.state(endpoint, "ben", 8), NewDelivery.state(endpoint, "ben", 7)]
            try await database.enqueue(both[0], both[1])
            #expect(try await store.webhooks.delivery(both[1].id) == nil)
            #expect(try await store.webhooks.claim(endpoint).map(\.id) == [both[0].id])
        }
    }

    @Test("events replace nothing and are sent one after the other")
    func events() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            let events = (1...3).map { NewDelivery.state(endpoint, Int64($0), replaces: false) }
            try await database.enqueue(events[2], events[0], events[1])
            for event in events {
                let claimed = try await store.webhooks.claim(endpoint)
                #expect(claimed.map(\.id) == [event.id])
                #expect(try await store.written(claimed[0], .delivered) == .written(.delivered))
            }
        }
    }

    @Test("the database refuses two running messages of one lane")
    func oneSender() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            try await database.enqueue(
                .state(endpoint, 1, replaces: false), .state(endpoint, 2, replaces: false))
            let error = await postgresError { try await database.run("UPDATE webhook_queue SET owner = 'x'") }
            #expect(error?.constraint == "webhook_queue_one_sender")
        }
    }

    /// Two copies whose steps come in any order. Deliveries count in the order in which their tries begin.
    @Test("in any order of steps, no endpoint gets an older state after a newer one", arguments: 0..<6)
    func walk(seed: Int) async throws {
        try await withStores(2) { database, stores in
            var generator = Walker(seed: UInt64(seed))
            let endpoint = try await stores[0].makeEndpoint()
            var (sequence, landed, held) = (Int64(0), [Int64](), [(Int, ClaimedDelivery)]())
            var numbers: [DeliveryID: Int64] = [:]
            for _ in 0..<60 {
                switch generator.next(upTo: 5) {
                case 0, 1:
                    sequence += 1
                    let new = NewDelivery.state(endpoint, sequence)
                    numbers[new.id] = sequence
                    try await database.enqueue(new)
                case 2:
                    let copy = Int(generator.next(upTo: 2))
                    for claimed in try await stores[copy].webhooks.claim(endpoint) {
                        if !claimed.isOvertaken { landed.append(numbers[claimed.id] ?? 0) }
                        held.append((copy, claimed))
                    }
                case 3 where !held.isEmpty:
                    let (copy, claimed) = held.removeFirst()
                    let outcomes: [DeliveryOutcome] = [.delivered, .failed, .again(after: .zero)]
                    _ = try await stores[copy].written(claimed, outcomes[Int(generator.next(upTo: 3))])
                default:
                    // A stopped copy is dropped from the model, and its lease expires.
                    held.removeAll()
                    try await database.endLeases()
                }
            }
            #expect(landed == landed.sorted(), "\(landed)")
            // In every case the newest state is delivered in the end.
            for _ in 0..<5 {
                try await database.endLeases()
                // An operator replays a message that lost three leases in a row.
                for item in try await stores[0].webhooks.deliveries(matching: DeliveryFilter(state: .parked)).items {
                    _ = try await stores[0].ops.replayParkedDelivery(item.id, by: "ops", reason: nil)
                }
                for claimed in try await stores[0].webhooks.claim(endpoint) {
                    _ = try await stores[0].written(claimed, .delivered)
                }
            }
            #expect(try await database.count("webhook_queue") == 0)
        }
    }
}

/// The same numbers for the same seed.
private struct Walker {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next(upTo limit: UInt64) -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state % limit
    }
}
