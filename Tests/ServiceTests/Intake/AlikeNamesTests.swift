import AppStoreSimulation
import Foundation
import ReceiverSupport
import Testing

/// Names that are equal as Swift strings and different in PostgreSQL: the Kelvin sign and `K`, a letter composed and
/// decomposed.
@Suite struct AlikeNamesTests {
    private static let product = "apple:com.example.app.monthly"
    private static let names = ["K-1", "\u{212A}-1"]
    private static let emails = ["ren\u{E9}@example.test", "rene\u{301}@example.test"]

    /// The email in a path of the simulator's control API.
    private static func encoded(_ text: String) -> String {
        text.utf8.map { $0 < 0x80 ? String(UnicodeScalar($0)) : "%" + String($0, radix: 16, uppercase: true) }.joined()
    }

    @Test func oneCustomerDoesNotSeeTheOthersPurchases() async throws {
        try await PublisherScene.run { scene in
            scene.life.bought(at: Date())
            try await scene.buy("ana@example.test", username: Self.names[0])
            // First from the database, then from the cache.
            for _ in 0..<2 {
                #expect(try await scene.purchases(Self.names[0])[Self.product]["isExpired"].bool == false)
                #expect(try await scene.purchases(Self.names[1]).object?.isEmpty == true)
            }
        }
    }

    @Test func anEndpointReceivesBoth() async throws {
        try await withReceiver { port, received in
            let settings = [
                "RELAY_WEBHOOK_URLS": "http://127.0.0.1:\(port)/hook", "RELAY_WEBHOOK_ALLOW_NETWORKS": "127.0.0.0/8",
            ]
            try await PublisherScene.run(settings: settings) { scene in
                for name in Self.names {
                    scene.life = try scene.store.subscription(period: 86_400)
                    scene.life.bought(at: Date())
                    try await scene.buy("ana-\(scene.life.originalTransactionId)@example.test", username: name)
                }
                for name in Self.names {
                    _ = try await Awaiting.fact("a message about \(Array(name.utf8))") {
                        received().filter {
                            $0.json["applicationUsername"].string.map { Array($0.utf8) } == Array(name.utf8)
                        }
                    } holds: {
                        !$0.isEmpty
                    }
                }
            }
        }
    }

    @Test func aSubscriptionMovesFromOneToTheOther() async throws {
        try await Setup.run { setup in
            let original = TestPurchase.newTransactionID()
            let first = try await setup.relay.pursue(Self.emails[0], original: original)
            _ = try await setup.relay.becomes("granted", first)
            let second = try await setup.relay.pursue(Self.emails[1], original: original)
            #expect(second != first)
            _ = try await setup.relay.becomes("granted", second)
            #expect(try await setup.relay.becomes("transferred", first)["accessGranted"].bool == false)
        }
    }

    /// Timeline: both wait. Cleeng entitles one of them. The next reads are answered.
    @Test func aReadOfTheOneGrantsNothingToTheOther() async throws {
        try await Setup.run(settings: ["RELAY_POLL_INTERVAL_SECONDS": "1"]) { setup in
            let control = SimulatorControl(setup.simulator)
            for email in Self.emails { try await control.behave(Self.encoded(email), "never") }
            var ids: [String] = []
            for email in Self.emails { ids.append(try await setup.relay.pursue(email)) }
            for id in ids { _ = try await reads(of: id, atLeast: 1, setup) }
            try await control.entitle(Self.encoded(Self.emails[0]), to: "S123456789_US", status: "active")
            _ = try await setup.relay.becomes("granted", ids[0])
            let before = try await reads(of: ids[1], atLeast: 1, setup)
            _ = try await reads(of: ids[1], atLeast: before + 2, setup)
            #expect(try await setup.relay.poll(ids[1]).json["status"].string == "pending")
        }
    }

    private func reads(of id: String, atLeast count: Int, _ setup: Setup) async throws -> Int {
        try await Awaiting.fact("\(count) entitlement reads of \(id)") {
            try await setup.relay.timeline(id, "entitlement_read").count
        } holds: {
            $0 >= count
        }
    }

    @Test func aCustomersTokenIsValidForNoOtherCustomer() async throws {
        let issuer = CustomerTokenIssuer()
        let folder = try ScratchFolder()
        defer { folder.remove() }
        let file = try folder.write("jwks.json", issuer.jwks)
        try await Setup.run(settings: ["RELAY_CUSTOMER_JWKS_FILE": file]) { setup in
            let token = try issuer.token(email: "\u{212A}im@example.test", verified: true)
            let answer = try await setup.relay.purchase(
                TestPurchase(email: "kim@example.test"), headers: ["X-Customer-Token": token])
            expectProblem(answer, 403, "another_customer")
        }
    }
}
