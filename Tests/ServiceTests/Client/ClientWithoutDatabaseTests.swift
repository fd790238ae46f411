import Foundation
import RelayClient
import TestRun
import Testing

extension DatabaseDays {
    @Suite struct ClientWithoutDatabaseTests {
        @Test(.whole, .timeLimit(.paced(minutes: 4)))
        func aPurchaseWithoutADatabaseIsAcceptedOnceItReturns() async throws {
            let cluster = try await PrivateCluster.crashing()
            try await BadDay.run(in: cluster) { day in
                let relay = try await day.relay()
                let transport = WatchedTransport()
                let client = try relay.client(transport: transport)
                // The first purchase makes the relay cache the key.
                _ = try await client.submit(Purchase("first@example.test"))
                await cluster.crash()
                let redeeming = Task { try await client.redeem(Purchase("ana@example.test")) }
                try await Awaiting.fact("it was told twice to come again") {
                    transport.statuses.count { $0 == 503 }
                } holds: {
                    $0 >= 2
                }
                try await cluster.start()
                guard case .granted = try await redeeming.value else {
                    Issue.record("it is not granted")
                    return
                }
                let listed = try await relay.ops("/ops/validations?customerEmail=ana@example.test")
                #expect(listed.json["items"].array?.count == 1)
                #expect(try await day.control.payments(of: "ana@example.test").count == 1)
            }
        }
    }
}
