import Foundation
import TestRun
import Testing

/// Tests with more request bodies at once than the memory for bodies can hold.
@Suite struct FloodTests {
    private static let clients = 120
    private static let partBytes = 192 << 10

    @Test(.timeLimit(.paced(minutes: 4)))
    func aFloodOfBodiesIsRefusedAndLaterRequestsAreServed() async throws {
        try await BadDay.run(settings: ["RELAY_MAX_BODIES_BYTES": "4194304"]) { day in
            let relay = try await day.relay()
            let first = await AppClient.post(TestPurchase(email: "first@example.test"), to: relay)
            #expect(first.id != nil)
            let before = try ProcessFacts.residentMemory(of: relay.process)

            // Each client announces twice as many bytes as it sends, so the relay keeps the first half in memory.
            let crowd = Crowd()
            let head = """
                POST /apple/payment HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer \(relay.keys.app)\r\n\
                Content-Type: application/json\r\nContent-Length: \(2 * Self.partBytes)\r\n\r\n{"customerEmail":"
                """
            let part = Array(head.utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: Self.partBytes)
            try await crowd.join(Self.clients, to: relay.url) { _ in part }
            let roomFor = (4 << 20) / Self.partBytes
            try await crowd.watch(atMost: Awaiting.patience) {
                $0.count { $0.answeredAt != nil } >= Self.clients - roomFor
            }
            let shed = crowd.members.filter { $0.answeredAt != nil }
            #expect(shed.count >= Self.clients - roomFor)
            #expect(shed.count < Self.clients, "those for whom there was room are waited for")
            for member in shed {
                #expect(member.status == 503)
                #expect(member.text.lowercased().contains("retry-after: "))
                #expect(member.text.contains("\"code\":\"overloaded\""))
            }
            let gauge = try #require(try await relay.metric("http_server_body_bytes"))
            #expect(gauge > 0 && gauge <= 4_194_304)
            let during = try ProcessFacts.residentMemory(of: relay.process)
            #expect(during - before < 60)
            Measured.note("resident MiB before and in a flood of bodies", "\(before), \(during)")

            crowd.leave(0..<Self.clients)
            try await Awaiting.fact("the memory is given back", is: 0) {
                try await relay.metric("http_server_body_bytes")
            }
            let posted = await AppClient.post(AppClient.purchases(20, "after"), to: relay)
            #expect(posted.accepted.count == 20)
            #expect(try await AppClient.outcomes(posted.ids, of: relay) == ["granted": 20])
        }
    }
}
