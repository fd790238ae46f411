import Postgres
import RelayCore
import Testing

@testable import Relay

@Suite("The queue of messages")
struct DeliveryQueueTests {
    @Test("of each endpoint at most its free capacity is claimed, and nothing of others")
    func fair() async throws {
        try await withStore { database, store in
            var ids: [EndpointID] = []
            for _ in 0..<3 { ids.append(try await store.makeEndpoint()) }
            for id in ids { for lane in 0..<20 { try await database.enqueue(.state(id, "u\(lane)", 1)) } }
            let claimed = try await store.webhooks.claim(
                [ids[0]: 2, ids[1]: 7], lease: .seconds(60), mark: RelayStore.mark)
            #expect(claimed.count { $0.endpoint == ids[0] } == 2)
            #expect(claimed.count { $0.endpoint == ids[1] } == 7)
            #expect(claimed.count == 9)
            let rest = try await store.webhooks.claim(
                [ids[0]: 0, ids[2]: 99], lease: .seconds(60), mark: RelayStore.mark)
            #expect(rest.count == 20 && rest.allSatisfy { $0.endpoint == ids[2] })
        }
    }

    @Test("two copies never hold the same message")
    func copies() async throws {
        try await withStores(3) { database, stores in
            let endpoint = try await stores[0].makeEndpoint()
            for lane in 0..<60 { try await database.enqueue(.state(endpoint, "u\(lane)", 1)) }
            let claimed = try await withThrowingTaskGroup(of: [DeliveryID].self) { group in
                for store in stores {
                    group.addTask {
                        try await store.webhooks.claim(endpoint, 40).map(\.id)
                            + store.webhooks.claim(endpoint, 40).map(\.id)
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(claimed).count == claimed.count)
            let left = try await stores[0].webhooks.claim(endpoint, 60).count
            #expect(claimed.count + left == 60)
        }
    }

    @Test("a failed try waits its pause; a released message is due at once and counts no try")
    func pauses() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            let delivery = NewDelivery.state(endpoint, 1)
            try await database.enqueue(delivery)
            let first = try await store.webhooks.claim(endpoint)
            try await store.queues.giveBack(first.map(\.row))
            let second = try await store.webhooks.claim(endpoint)
            #expect(second.first?.tries == 1 && second.first?.fence == 2)
            #expect(try await store.written(first[0], .delivered) == .leaseLost)
            #expect(try await store.written(second[0], .again(after: .seconds(60)), status: 503) == .written(.waiting))
            #expect(try await store.webhooks.claim(endpoint).isEmpty)
            let seen = try #require(try await store.webhooks.delivery(delivery.id))
            #expect(seen.state == .waiting && seen.tries == 1 && seen.lastStatus == 503 && seen.nextTryAt != nil)
            #expect(try await store.webhooks.backlog().retrying == 1)
            try await database.endLeases()
            // The message keeps the body mark of its first try.
            let third = try await store.webhooks.claim([endpoint: 1], lease: .seconds(60), mark: BodyMark(number: 9))
            #expect(third.first?.mark == RelayStore.mark && third.first?.tries == 2)
            #expect(try await store.written(third[0], .failed, status: 500) == .written(.failed))
            #expect(
                try await store.webhooks.deliveries(matching: DeliveryFilter(state: .failed)).items.map(\.id) == [
                    delivery.id
                ])
        }
    }

    @Test("waiting messages of a disabled or removed endpoint are dropped; running ones end by themselves")
    func dropped() async throws {
        try await withStore { database, store in
            let (off, gone, on) = (
                try await store.makeEndpoint(), try await store.makeEndpoint(), try await store.makeEndpoint()
            )
            let deliveries = [off, gone, on].map { NewDelivery.state($0, 1) }
            try await database.enqueue(deliveries[0], deliveries[1], deliveries[2], .state(off, "ben", 1))
            let underWay = try await store.webhooks.claim(off, 1)
            #expect(try await store.webhooks.disableEndpoint(off, .gone))
            #expect(try await store.webhooks.disableEndpoint(off, .operator) == false)
            #expect(try await store.webhooks.removeEndpoint(gone))
            #expect(try await store.webhooks.dropUndeliverable() == 2)
            #expect(try await store.webhooks.dropUndeliverable() == 0)
            #expect(try await store.state(deliveries[1]) == .dropped)
            #expect(try await store.state(deliveries[2]) == .waiting)
            #expect(try await store.written(underWay[0], .delivered) == .written(.delivered))
            #expect(try await store.webhooks.endpoints().map(\.id) == [off, on])
            #expect(try await store.webhooks.endpoints()[0].disabledReason == "gone")
            #expect(try await store.webhooks.enableEndpoint(off))
            #expect(try await store.webhooks.endpoint(off)?.isActive == true)
            // The list still shows the intended URL of the message.
            #expect(try await store.webhooks.delivery(deliveries[1].id)?.url == "https://shop.example.com/hook")
        }
    }

    @Test("an endpoint is disabled for failures only after five days without a success of any copy")
    func failing() async throws {
        try await withStore { database, store in
            let endpoint = try await store.makeEndpoint()
            #expect(try await store.webhooks.note(.failing, of: endpoint))
            #expect(try await store.webhooks.note(.failing, of: endpoint) == false)
            #expect(try await store.webhooks.note(.disabled(.failing), of: endpoint) == false)
            try await database.run("UPDATE webhook_endpoints SET failing_since = now() - interval '5 days'")
            #expect(try await store.webhooks.note(.disabled(.failing), of: endpoint))
            #expect(try await store.webhooks.endpoint(endpoint)?.disabledReason == "failing")
        }
    }

    @Test("the configuration's endpoints are synchronized, and others are left")
    func listed() async throws {
        try await withStores(2) { _, stores in
            let own = try await stores[0].makeEndpoint("https://own.example.com")
            async let one: Void = stores[0].webhooks.keepEndpoints(listed: [
                "https://a.example.com", "https://b.example.com",
            ])
            async let two: Void = stores[1].webhooks.keepEndpoints(listed: [
                "https://a.example.com", "https://b.example.com",
            ])
            _ = try await (one, two)
            let before = try await stores[0].webhooks.endpoints()
            #expect(
                Set(before.map(\.url)) == ["https://own.example.com", "https://a.example.com", "https://b.example.com"])
            #expect(before.count == 3)
            try await stores[0].webhooks.keepEndpoints(listed: ["https://b.example.com", "https://c.example.com"])
            let after = try await stores[0].webhooks.endpoints()
            #expect(
                Set(after.map(\.url)) == ["https://own.example.com", "https://b.example.com", "https://c.example.com"])
            #expect(
                after.first { $0.url == "https://b.example.com" }?.id
                    == before.first { $0.url == "https://b.example.com" }?.id)
            #expect(after.contains { $0.id == own })
            #expect(try await stores[0].webhooks.addEndpoint(publisher: "nobody", url: "https://x.example.com") == nil)
        }
    }

    @Test("the configuration adds no second endpoint for an operator's URL, unless that has one environment only")
    func listedTwice() async throws {
        try await withStore { _, store in
            let (all, one) = ("https://all.example.com", "https://one.example.com")
            let own = try await store.makeEndpoint(all)
            _ = try await store.webhooks.addEndpoint(publisher: "main", url: one, environment: .sandbox)
            #expect(try await store.webhooks.disableEndpoint(own, .operator))
            for _ in 0..<2 { try await store.webhooks.keepEndpoints(listed: [all, one]) }
            #expect(try await store.webhooks.endpoints().map(\.url).sorted() == [all, one, one])
            #expect(try await store.webhooks.endpoint(url: all, of: "main")?.id == own)
            let second = try await store.makeEndpoint(all)
            #expect(try await store.webhooks.endpoint(url: all, of: "main")?.id == second)
        }
    }

    @Test("removed endpoints are deleted once their messages are, unless one is still queued")
    func pruned() async throws {
        try await withStore { database, store in
            var ids: [EndpointID] = []
            for _ in 0..<4 { ids.append(try await store.makeEndpoint()) }
            for id in ids.dropFirst() { #expect(try await store.webhooks.removeEndpoint(id)) }
            try await database.run("UPDATE webhook_endpoints SET removed_at = removed_at - interval '100 days'")
            try await database.run(
                "UPDATE webhook_endpoints SET removed_at = now() WHERE id = $1", .text(ids[1].description))
            let delivery = NewDelivery.state(ids[2], 1)
            try await database.enqueue(delivery)
            #expect(try await store.webhooks.pruneEndpoints(removedFor: .seconds(98 * 86_400)) == 1)
            let left: [String] = try await database.column("SELECT id FROM webhook_endpoints")
            #expect(Set(left) == Set(ids.prefix(3).map(\.description)))
            #expect(try await store.webhooks.dropUndeliverable() == 1)
            #expect(try await store.webhooks.pruneEndpoints(removedFor: .seconds(98 * 86_400)) == 1)
            #expect(try await store.webhooks.delivery(delivery.id)?.url.isEmpty == true)
        }
    }

    @Test("pages are newest first and complete with every filter")
    func pages() async throws {
        try await withStore { database, store in
            let (one, two) = (try await store.makeEndpoint(), try await store.makeEndpoint())
            for number in 0..<7 {
                try await database.enqueue(.state(one, "u\(number)", 1), .state(two, "u\(number)", 1))
            }
            let filters: [(DeliveryFilter, Int)] = [
                (DeliveryFilter(limit: 3), 14), (DeliveryFilter(endpoint: one, limit: 3), 7),
                (DeliveryFilter(state: .waiting, limit: 4), 14), (DeliveryFilter(state: .delivered, limit: 4), 0),
                (DeliveryFilter(applicationUsername: "u3", limit: 1), 2),
                (DeliveryFilter(state: .waiting, endpoint: two, applicationUsername: "u3", limit: 1), 1),
            ]
            for (filter, count) in filters {
                var (filter, seen) = (filter, [OpsDelivery]())
                for _ in 0..<20 {
                    let page = try await store.webhooks.deliveries(matching: filter)
                    seen += page.items
                    guard let next = page.next else { break }
                    filter.cursor = next
                }
                #expect(seen.count == count && Set(seen.map(\.id)).count == count)
                #expect(seen.map(\.createdAt) == seen.map(\.createdAt).sorted(by: >))
            }
            let range = RepeatFilter(from: Timestamp(seconds: 0), to: Timestamp(seconds: 4_000_000_000), limit: 5)
            #expect(try await store.webhooks.repeatTargets(range).isEmpty)
            try await database.run("UPDATE webhook_deliveries SET state = 4, finished_at = now()")
            var (next, targets) = (range, [RepeatTarget]())
            for _ in 0..<9 {
                let page = try await store.webhooks.repeatTargets(next)
                targets += page
                guard let last = page.last else { break }
                next.after = last
            }
            #expect(targets.count == 14 && Set(targets).count == 14)
        }
    }

    @Test("a week with undelivered messages is not dropped")
    func retention() async throws {
        try await withStore { database, store in
            try await store.retention.makePartitions()
            try await database.makeWeek(daysAgo: 100)
            let endpoint = try await store.makeEndpoint()
            try await database.enqueue(.state(endpoint, 1))
            for table in ["webhook_deliveries", "webhook_queue"] {
                try await database.run("UPDATE \(table) SET accepted_on = accepted_on - 100")
            }
            let told = try await Passes.run(store)
            #expect(told.heldBack == [.webhookDeliveries])
            #expect(!told.dropped.contains(.webhookDeliveries))
            let claimed = try await store.webhooks.claim(endpoint)
            #expect(claimed.first?.body != nil)
            #expect(try await store.written(claimed[0], .delivered) == .written(.delivered))
            #expect(try await Passes.run(store).dropped == [.webhookDeliveries])
        }
    }
}
