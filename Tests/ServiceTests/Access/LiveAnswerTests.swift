import AppStoreSimulation
import Foundation
import TestRun
import Testing

/// Cleeng's present answers, also for customers without a purchase at the relay.
@Suite struct LiveAnswerTests {
    private static let offer = "S123456789_US"
    private static let email = "web@example.test"

    private struct Scene {
        var setup: Setup
        var control: SimulatorControl
        var relay: Relay { setup.relay }

        func asked(fresh: Bool = true, offer: String? = LiveAnswerTests.offer) async throws -> JSON {
            let item = offer.map { "&offerId=\($0)" } ?? ""
            var headers = ["Authorization": "Bearer \(relay.keys.app)"]
            if fresh { headers["Cache-Control"] = "max-age=0, No-Cache" }
            let answer = try await HTTP.get(
                relay.url + "/entitlements?customerEmail=\(LiveAnswerTests.email)\(item)", headers: headers)
            #expect(answer.status == 200, "\(answer.text)")
            return answer.json
        }

        /// Waits for the status; the customer's turn to be read may come later.
        func becomes(_ status: String) async throws -> JSON {
            try await Awaiting.fact("it is \(status)") {
                try await asked()
            } holds: {
                $0["status"].string == status
            }
        }

        func reads() async throws -> Int { try await control.reads(of: LiveAnswerTests.email).count }

        func buysOnTheWeb(until: Date? = Date() + 86_400) async throws {
            try await control.entitle(
                LiveAnswerTests.email, to: LiveAnswerTests.offer, status: "active", until: until)
        }
    }

    private func run(
        _ settings: [String: String] = [:], role: String = "all", _ body: (Scene) async throws -> Void
    ) async throws {
        let leeway = ["RELAY_APPLE_RENEWAL_LEEWAY_SECONDS": "1"]
        try await Setup.run(settings: leeway.merging(settings) { $1 }, role: role) { setup in
            try await body(Scene(setup: setup, control: SimulatorControl(setup.simulator)))
        }
    }

    @Test func aPurchaseOnTheWebIsFoundByAFreshRead() async throws {
        try await run { scene in
            try await scene.buysOnTheWeb()
            #expect(try await scene.asked(fresh: false)["status"].string == "unknown")
            #expect(try await scene.reads() == 0)
            let found = try await scene.asked()
            #expect(found["status"].string == "granted" && found["accessGranted"].bool == true)
            #expect(found["offerId"].string == Self.offer && found["expiresAt"].string != nil)
            // The answer is stored, so no further read is needed.
            let reads = try await scene.reads()
            #expect(reads == 1)
            #expect(try await scene.asked(fresh: false)["status"].string == "granted")
            let list = try await scene.asked(fresh: false, offer: nil)["entitlements"].array
            #expect(list?.map { $0["offerId"].string } == [Self.offer])
            #expect(try await scene.reads() == reads)
            // The publisher's list contains only store purchases.
            let key = try await Relay.makeKey("publisher", scene.setup.database)
            #expect(try await scene.relay.purchases(Self.email, key: key).isEmpty)
            try await scene.control.entitle(Self.email, to: Self.offer, status: "terminated")
            #expect(try await scene.becomes("revoked")["reason"].string == "expired")
        }
    }

    @Test(.whole) func foundAccessEndsWithoutARequest() async throws {
        try await run { scene in
            try await scene.buysOnTheWeb(until: Date() + 3)
            #expect(try await scene.asked()["status"].string == "granted")
            try await scene.control.entitle(Self.email, to: Self.offer, status: "terminated")
            try await Awaiting.fact("it has ended") {
                try await scene.asked(fresh: false)
            } holds: {
                $0["status"].string == "revoked"
            }
        }
    }

    /// Guards against an end that is never asked about, because apps read the same customer for another offer at every
    /// turn. No worker runs, so nothing else asks.
    @Test func foundAccessEndsWhereAnotherOfferIsAskedFor() async throws {
        try await run(role: "front") { scene in
            try await scene.buysOnTheWeb(until: Date() + 3)
            #expect(try await scene.asked()["status"].string == "granted")
            try await scene.control.entitle(Self.email, to: Self.offer, status: "terminated")
            try await Awaiting.fact("it has ended") {
                _ = try await scene.asked(offer: "S000000000_US")
                return try await scene.asked(fresh: false)
            } holds: {
                $0["status"].string == "revoked"
            }
        }
    }

    @Test func aCustomerIsReadOnceInAnIntervalAndFoundOnce() async throws {
        try await run(["RELAY_POLL_INTERVAL_SECONDS": "60"]) { scene in
            try await scene.buysOnTheWeb()
            let answers = try await withThrowingTaskGroup(of: JSON.self) { group in
                for _ in 1...6 { group.addTask { try await scene.asked() } }
                return try await group.reduce(into: [JSON]()) { $0.append($1) }
            }
            // An early request gets the stored answer, which may be empty.
            #expect(answers.allSatisfy { ["granted", "unknown"].contains($0["status"].string ?? "") })
            #expect(answers.contains { $0["status"].string == "granted" })
            #expect(try await scene.reads() == 1)
            #expect(try await scene.asked(offer: nil)["entitlements"].array?.count == 1)
        }
    }

    @Test func withoutCleengTheKnownStatusIsReturned() async throws {
        try await run { scene in
            try await scene.buysOnTheWeb()
            try await scene.control.trouble("read-503")
            #expect(try await scene.asked()["status"].string == "unknown")
            #expect(try await scene.asked(offer: nil)["entitlements"].array?.isEmpty == true)
            try await scene.control.heal()
            _ = try await scene.becomes("granted")
        }
    }

    /// The wait for a purchase uses the customer's turn to be read.
    @Test func whileAPurchaseIsPendingNoOtherReadIsMade() async throws {
        try await run(["RELAY_POLL_INTERVAL_SECONDS": "60"]) { scene in
            try await scene.control.behave(Self.email, "never")
            let id = try await scene.relay.pursue(Self.email)
            try await Awaiting.fact("it is watched", is: 1) { try await scene.relay.timeline(id, "forwarded").count }
            let reads = try await scene.reads()
            #expect(try await scene.asked()["status"].string == "pending")
            #expect(try await scene.asked(offer: "S999999999_US")["status"].string == "unknown")
            #expect(try await scene.reads() == reads)
        }
    }

    @Test func aRefundedPurchaseIsNotGrantedAgainByAnOlderEntitlement() async throws {
        let store = try TestAppStore()
        defer { store.end() }
        try await run(store.settings(relayingTo: nil)) { scene in
            var life = try store.subscription(period: 86_400)
            life.bought(at: Date())
            let answer = try await scene.relay.purchase(try store.purchase(life, email: Self.email))
            let id = try #require(answer.json["validationId"].string, "\(answer.text)")
            _ = try await scene.relay.becomes("granted", id)
            #expect(try await scene.relay.notify(life.refunded(at: Date()), signedBy: store).status == 200)
            try await scene.buysOnTheWeb(until: Date() + 3_600)
            let reads = try await scene.reads()
            try await Awaiting.fact("Cleeng is asked") {
                _ = try await scene.asked()
                return try await scene.reads()
            } holds: {
                $0 > reads
            }
            #expect(try await scene.asked()["status"].string == "revoked")
            // The new end is after that of the revoked purchase, so another purchase gives this access.
            try await scene.buysOnTheWeb(until: Date() + 10 * 86_400)
            _ = try await scene.becomes("granted")
            #expect(try await scene.relay.poll(id).json["status"].string == "revoked")
        }
    }

    @Test(.whole) func operatorsRefreshByAPIAndTerminalAndItIsAudited() async throws {
        try await run { scene in
            let path = "/ops/customers/\(Self.email)/refresh"
            #expect(try await scene.relay.opsPost(path, key: scene.relay.keys.viewer).status == 403)
            #expect(try await scene.relay.opsPost(path, reason: "").status == 422)
            #expect(try await scene.relay.opsPost("/ops/customers/nobody/refresh").status == 404)
            // The customer is unknown and the publisher has no known offer, so there is nothing to ask about.
            #expect(try await scene.relay.opsPost(path).json["entitlements"].array?.isEmpty == true)
            let environment = [
                "RELAY_DATABASE_URL": scene.setup.database.url, "RELAY_CLEENG_PUBLISHER_TOKEN": Simulator.token,
                "RELAY_CLEENG_PAYMENT_URL": scene.setup.simulator.url,
                "RELAY_CLEENG_API_URL": scene.setup.simulator.url, "RELAY_POLL_INTERVAL_SECONDS": "0.3",
                "RELAY_APPLE_VERIFICATION": "off", "USER": "olga",
            ]
            func terminal(_ arguments: String...) async throws -> (code: Int32, text: String) {
                let ended = try await ChildProcess.run("receipt-relay", arguments, environment: environment)
                return (ended.code, ended.output.joined(separator: "\n"))
            }
            #expect(try await terminal("offers", "add", "--offer", Self.offer, "--product", "com.example.a").code == 0)
            try await scene.buysOnTheWeb()
            let asked = try await terminal("customers", "refresh", Self.email, "--reason", "a ticket")
            #expect(asked.code == 0 && asked.text.contains(Self.offer) && asked.text.contains("granted"), "\(asked)")
            try await scene.control.entitle(Self.email, to: Self.offer, status: "terminated")
            let answer = try await scene.relay.opsPost(path)
            #expect(answer.json["outcome"].string == "asked" && answer.json["publisher"].string == "main")
            #expect(answer.json["entitlements"][0]["status"].string == "revoked", "\(answer.text)")
            #expect(try await terminal("customers", "refresh", Self.email).code == 1)
            #expect(try await terminal("customers", "refresh", Self.email, "--publisher", "none").code == 64)
            let log = try await terminal("audit", "--json")
            #expect(log.text.components(separatedBy: "\"customer.refresh\"").count == 5, "\(log.text)")
            #expect(log.text.contains("a ticket (asked)"))
        }
    }
}
