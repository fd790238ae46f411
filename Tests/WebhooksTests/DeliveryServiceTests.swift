import Formats
import Hummingbird
import NIOConcurrencyHelpers
import Postgres
import ReceiverSupport
import RelayCore
import Testing

@testable import Relay
@testable import Webhooks

@Suite("Delivered messages")
struct DeliveryServiceTests {
    private func isDone(_ bench: DeliveryBench, _ state: Int, _ count: Int) async throws -> Bool {
        try await bench.number("SELECT count(*) FROM webhook_deliveries WHERE state = \(state)") == count
    }

    @Test("are sent once, with the password, and repeated with the same id until accepted")
    func retried() async throws {
        let fails = NIOLockedValueBox(2)
        try await withReceiver { _ in
            let fail = fails.withLockedValue { left in
                defer { left -= 1 }
                return left > 0
            }
            return Response(status: fail ? .internalServerError : .ok)
        } _: { port, received in
            try await DeliveryBench.run { bench in
                let endpoint = try await bench.endpoint(port)
                try await bench.delivering(retries: [.milliseconds(20), .milliseconds(20)]) { bell in
                    let delivery = DeliveryBench.state(endpoint, "ana", 1)
                    try await bench.enqueue([delivery])
                    bell.signal()
                    try await bench.eventually("it is delivered") { try await isDone(bench, 1, 1) }
                    let got = received()
                    #expect(got.count == 3)
                    #expect(Set(got.map { $0.headers["webhook-id"] }) == [delivery.id.description])
                    #expect(Set(got.map(\.body)).count == 1)
                    #expect(
                        got[0].body.hasPrefix(
                            #"{"type":"purchases.updated","password":"pw","applicationUsername":"ana""#))
                    let seen = try #require(try await bench.store.webhooks.delivery(delivery.id))
                    #expect(seen.tries == 3 && seen.lastStatus == 200 && seen.lastError == nil)
                }
            }
        }
    }

    @Test("end after the last try, with its answer")
    func givenUp() async throws {
        try await withReceiver { _ in
            Response(status: .badRequest)
        } _: { port, received in
            try await DeliveryBench.run { bench in
                let endpoint = try await bench.endpoint(port)
                // More customers than failures that open a breaker, but all of their tries are made.
                let deliveries = (0..<12).map { DeliveryBench.state(endpoint, "u\($0)", 1) }
                try await bench.enqueue(deliveries)
                try await bench.delivering(retries: [.milliseconds(20), .milliseconds(20)]) { _ in
                    try await bench.eventually("all are given up") { try await isDone(bench, 2, 12) }
                }
                #expect(received().count == 36)
                let item = try #require(try await bench.store.webhooks.delivery(deliveries[0].id))
                #expect(
                    item.state == .failed && item.tries == 3 && item.lastStatus == 400 && item.lastError == "HTTP 400")
                #expect(try await bench.store.webhooks.endpoint(endpoint)?.failingSince != nil)
            }
        }
    }

    @Test("are kept if the endpoint takes a retry after quiet days")
    func quiet() async throws {
        let fails = NIOLockedValueBox(3)
        try await withReceiver { _ in
            let fail = fails.withLockedValue { left in
                defer { left -= 1 }
                return left > 0
            }
            return Response(status: fail ? .internalServerError : .ok)
        } _: { port, _ in
            try await DeliveryBench.run { bench in
                let endpoint = try await bench.endpoint(port)
                _ = try await bench.pool.query("UPDATE webhook_endpoints SET failing_since = now() - interval '6 days'")
                try await bench.enqueue([DeliveryBench.state(endpoint, "ana", 1)])
                try await bench.delivering(retries: Array(repeating: .milliseconds(20), count: 4)) { _ in
                    try await bench.eventually("it is delivered") { try await isDone(bench, 1, 1) }
                }
                #expect(try await bench.store.webhooks.endpoint(endpoint)?.isActive == true)
            }
        }
    }

    @Test("are not delayed by a hanging and an unreachable endpoint")
    func hanging() async throws {
        try await withReceiver { received in
            if received.path == "/hangs" { try? await Task.sleep(for: .seconds(3_600)) }
            return Response(status: received.path == "/gone" ? .gone : .ok)
        } _: { port, received in
            try await DeliveryBench.run { bench in
                let hangs = try await bench.endpoint(port, "/hangs")
                let gone = try await bench.endpoint(port, "/gone")
                let dead = try await bench.endpoint(1)
                let well = try await bench.endpoint(port, "/well")
                for endpoint in [hangs, gone, dead, well] {
                    try await bench.enqueue((0..<200).map { DeliveryBench.state(endpoint, "u\($0)", 1) })
                }
                let rooms = EndpointCapacity(places: 24, perEndpoint: 16)
                try await bench.delivering(timeout: .seconds(600), retries: [.seconds(60)], rooms: rooms) { _ in
                    try await bench.eventually("all of the well one are delivered") { try await isDone(bench, 1, 200) }
                    try await bench.eventually("what waits for the gone one is dropped") {
                        try await bench.number("SELECT count(*) FROM webhook_queue WHERE endpoint = '\(gone)'") == 0
                    }
                    try await bench.eventually("the dead one fails") {
                        try await bench.store.webhooks.endpoint(dead)?.failingSince != nil
                    }
                    #expect(try await bench.store.webhooks.endpoint(gone)?.disabledReason == "gone")
                    #expect(try await bench.store.webhooks.endpoint(well)?.lastSuccessAt != nil)
                    #expect(received().count { $0.path == "/hangs" } <= 16)
                }
                // At shutdown, messages that were being sent went back without counting a try.
                for kept in ["owner IS NOT NULL", "tries > 0"] {
                    let count = try await bench.number(
                        "SELECT count(*) FROM webhook_queue WHERE endpoint = '\(hangs)' AND \(kept)")
                    #expect(count == 0, "\(kept)")
                }
            }
        }
    }

    @Test("take the places of idle endpoints if there are not enough for all")
    func places() async throws {
        try await DeliveryBench.run { bench in
            var ids: [EndpointID] = []
            for number in 0..<9 { ids.append(try await bench.endpoint(1, "/\(number)")) }
            try await bench.enqueue([DeliveryBench.state(ids[4], "ana", 1)])
            for (places, expected) in [(8, [ids[4]]), (1_024, ids)] {
                let service = DeliveryService(
                    store: bench.store, client: WebhookClient(timeout: .seconds(1), policy: AddressPolicy()),
                    credentials: PerPublisher(WebhookCredentials(password: "pw")),
                    settings: DeliverySettings(capacity: EndpointCapacity(places: places, perEndpoint: 4)),
                    wakeup: Wakeup(), logger: DeliveryBench.silent)
                _ = try await service.prepare()
                #expect(Set(service.allowances().keys) == Set(expected))
                await service.client.shutDown()
            }
        }
    }

    @Test("leave three quarters of the places to other publishers")
    func publishers() async throws {
        try await DeliveryBench.run { bench in
            _ = try await bench.store.publishers.add("other")
            for number in 0..<9 { _ = try await bench.endpoint(1, "/\(number)") }
            for publishers in 1...2 {
                if publishers == 2 { _ = try await bench.endpoint(1, "/", publisher: "other") }
                let service = DeliveryService(
                    store: bench.store, client: WebhookClient(timeout: .seconds(1), policy: AddressPolicy()),
                    credentials: PerPublisher(WebhookCredentials(password: "pw")),
                    settings: DeliverySettings(capacity: EndpointCapacity(places: 64, perEndpoint: 4)),
                    wakeup: Wakeup(), logger: DeliveryBench.silent)
                _ = try await service.prepare()
                var limits: [PublisherID: Int] = [:]
                for allowance in service.allowances().values {
                    limits[try #require(allowance.permit).endpoint.publisher, default: 0] += allowance.limit
                }
                #expect(limits == (publishers == 1 ? ["main": 36] : ["main": 16, "other": 4]))
                await service.client.shutDown()
            }
        }
    }

    @Test("of states: newer ones wait while one is sent, then only the newest is sent, with several copies")
    func order() async throws {
        let underWay = NIOLockedValueBox<[String: Int]>([:])
        let crossings = NIOLockedValueBox(0)
        try await withReceiver { received in
            let lane = received.body.split(separator: "\"applicationUsername\":\"").last?.prefix { $0 != "\"" } ?? ""
            let others = underWay.withLockedValue { under in
                defer { under[String(lane), default: 0] += 1 }
                return under[String(lane), default: 0]
            }
            if others > 0 { crossings.withLockedValue { $0 += 1 } }
            try? await Task.sleep(for: .milliseconds(5))
            underWay.withLockedValue { $0[String(lane), default: 1] -= 1 }
            return Response(status: Int.random(in: 0..<4) == 0 ? .serviceUnavailable : .ok)
        } _: { port, received in
            try await DeliveryBench.run { bench in
                let endpoint = try await bench.endpoint(port)
                let retries = [Duration](repeating: .milliseconds(10), count: 40)
                try await bench.delivering("one", retries: retries) { one in
                    try await bench.delivering("two", retries: retries) { two in
                        for number in 1...40 {
                            try await bench.enqueue((0..<5).map { DeliveryBench.state(endpoint, "u\($0)", number) })
                            one.signal()
                            two.signal()
                        }
                        try await bench.eventually("nothing is left") {
                            try await bench.number("SELECT count(*) FROM webhook_queue") == 0
                        }
                    }
                }
                #expect(crossings.withLockedValue { $0 } == 0)
                for lane in 0..<5 {
                    let numbers = received().filter { $0.body.contains("\"u\(lane)\"") }.compactMap { received in
                        received.body.split(separator: "\"n\":").last.flatMap { Int($0.dropLast()) }
                    }
                    #expect(numbers == numbers.sorted(), "\(numbers)")
                    #expect(numbers.last == 40)
                }
                #expect(
                    try await bench.number("SELECT count(*) FROM webhook_deliveries WHERE state NOT IN (1, 3)") == 0)
            }
        }
    }

    @Test(
        "are not delayed by another publisher's dead names; a failed look-up counts no try")
    func deadNames() async throws {
        let server = HostDirectoryTests.NameServer()
        let hosts = HostDirectory { host in
            server.waits(for: host)
            return [IPAddress("127.0.0.1")].compactMap(\.self)
        }
        try await withReceiver { port, received in
            try await DeliveryBench.run { bench in
                _ = try await bench.store.publishers.add("other")
                let count = 80
                for number in 0..<count {
                    let dead = try await bench.endpoint(port, host: "dead\(number).example.com")
                    try await bench.enqueue([DeliveryBench.state(dead, "ana", 1)])
                }
                try await bench.delivering(timeout: .seconds(600), retries: [], hosts: hosts) { bell in
                    try await bench.eventually("one publisher has all the look-ups that it may have") {
                        try await bench.number("SELECT count(*) FROM webhook_queue WHERE fence > 0") == count
                            && server.names.count == 32
                    }
                    let well = try await bench.endpoint(port, host: "well.example.com", publisher: "other")
                    try await bench.enqueue([DeliveryBench.state(well, "ben", 1, publisher: "other")])
                    bell.signal()
                    try await bench.eventually("the other one's message is delivered") { try await isDone(bench, 1, 1) }
                    #expect(received().map { $0.headers["host"] } == ["well.example.com:\(port)"])
                    server.release()
                    try await bench.eventually("all are delivered") { try await isDone(bench, 1, count + 1) }
                    // Without retries, a look-up that counted as a failed try would have ended the message.
                    #expect(try await bench.number("SELECT max(tries) FROM webhook_deliveries") == 1)
                }
            }
        }
    }

    @Test("reach configured endpoints like others; internal addresses are refused with the reason")
    func listed() async throws {
        try await DeliveryBench.run { bench in
            try await bench.store.webhooks.keepEndpoints(listed: ["http://10.255.255.1/hook"])
            try await bench.delivering(retries: []) { _ in
                let endpoint = try #require(try await bench.store.webhooks.endpoints().first)
                #expect(endpoint.isFromSettings)
                let delivery = DeliveryBench.state(endpoint.id, "ana", 1)
                try await bench.enqueue([delivery])
                try await bench.eventually("it is refused") { try await isDone(bench, 2, 1) }
                let seen = try #require(try await bench.store.webhooks.delivery(delivery.id))
                #expect(seen.lastStatus == nil && seen.lastError?.contains("10.255.255.1") == true)
            }
        }
    }
}
