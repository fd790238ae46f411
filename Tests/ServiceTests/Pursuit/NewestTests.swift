import Foundation
import Postgres
import Testing

/// Tests of `GET /entitlements?customerEmail=&offerId=`, which returns whether a customer is entitled to an offer.
@Suite struct NewestTests {
    @Test func theNewestValidationIsReturned() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            func ask(_ query: String, key: String? = nil, headers: [String: String] = [:]) async throws -> HTTP.Answer {
                var all = ["Authorization": "Bearer \(key ?? relay.keys.app)"]
                all.merge(headers) { $1 }
                return try await HTTP.get(relay.url + "/entitlements?\(query)", headers: all)
            }
            let query = "customerEmail=ana%2Bafter-1s@example.test&offerId=S123456789_US"
            let unknown = try await ask(query)
            #expect(unknown.status == 200)
            #expect(unknown.json.keys == ["status", "accessGranted"])
            #expect(unknown.json["status"].string == "unknown")
            #expect(unknown.json["accessGranted"].bool == false)
            #expect(unknown.header("Retry-After") == nil)

            let id = try await relay.pursue("ana+after-1s@example.test")
            let pending = try await ask(query)
            #expect(pending.header("Retry-After") == "1")
            #expect(pending.json == (try await relay.poll(id)).json || pending.json["status"].string == "pending")
            _ = try await relay.becomes("granted", id)
            let granted = try await ask(query)
            #expect(try await granted.json == relay.poll(id).json)
            #expect(granted.header("Retry-After") == nil)
            let loud = try await ask("customerEmail=%20%20ANA%2BAFTER-1S@Example.test%20&offerId=S123456789_US")
            #expect(loud.json == granted.json)
            #expect(try await ask(query, headers: ["If-None-Match": granted.header("ETag") ?? ""]).status == 304)

            // Nothing is known for another offer or publisher. Another app of the same publisher gets the same answer.
            let app = try await Relay.makeKey("app", setup.database, app: "com.example.other")
            let television = try await Awaiting.fact("the key is known", of: { try await ask(query, key: app) }) {
                $0.status != 401
            }
            #expect(television.json == granted.json)
            #expect(
                try await ask("customerEmail=ana%2Bafter-1s@example.test&offerId=S598742062_US").json["status"].string
                    == "unknown")
            for key in [
                try await Relay.makeKey("app", setup.database, publisher: "second")
            ] {
                let answer = try await Awaiting.fact("the key is known", of: { try await ask(query, key: key) }) {
                    $0.status != 401
                }
                #expect(answer.status == 200)
                #expect(answer.json["status"].string == "unknown")
            }
            #expect(try await ask(query, key: relay.keys.operator).status == 403)

            // While a new try of a failed purchase runs, the new one counts.
            let control = SimulatorControl(setup.simulator)
            try await control.behave("rea@example.test", "reject")
            let purchase = TestPurchase(email: "rea@example.test")
            let rejected = try await relay.pursue(purchase)
            _ = try await relay.becomes("rejected", rejected)
            let other = "customerEmail=rea@example.test&offerId=S123456789_US"
            #expect(try await ask(other).json["validationId"].string == rejected)
            try await control.behave("rea@example.test", "after-1s")
            let fresh = try await relay.pursue(purchase)
            #expect(try await ask(other).json["validationId"].string == fresh)
            _ = try await relay.becomes("granted", fresh)
            #expect(try await ask(other).json["accessGranted"].bool == true)

            for (bad, field) in [
                ("offerId=S123456789_US", "customerEmail"),
                ("customerEmail=nobody&offerId=S123456789_US", "customerEmail"),
                ("customerEmail=ana@example.test&offerId=", "offerId"),
            ] {
                let answer = try await ask(bad)
                #expect(answer.status == 422, "\(bad)")
                #expect(answer.header("Content-Type") == "application/problem+json")
                #expect(answer.json["errors"].array?.map { $0["field"].string } == [field], "\(bad)")
            }
            #expect(try await ask("").json["errors"].array?.count == 1)
        }
    }

    @Test func withoutAnOfferAllOffersAreReturned() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            func ask() async throws -> JSON {
                try await HTTP.get(
                    relay.url + "/entitlements?customerEmail=ana@example.test",
                    headers: ["Authorization": "Bearer \(relay.keys.app)"]
                ).json
            }
            let none = try await ask()
            #expect(none["customerEmail"].string == "ana@example.test" && none["entitlements"].array?.isEmpty == true)
            for offer in ["S123456789_US", "S598742062_US"] {
                _ = try await relay.becomes("granted", try await relay.pursue("ana@example.test", offer: offer))
            }
            let known = try await ask()["entitlements"].array ?? []
            #expect(known.map { $0["offerId"].string } == ["S598742062_US", "S123456789_US"], "the newest first")
            #expect(known.allSatisfy { $0["accessGranted"].bool == true && $0["status"].string == "granted" })
        }
    }

    /// A running entitlement takes precedence over a newer pending purchase, with and without a purchase of its own.
    @Test func accessContinuesWhileACustomerRestores() async throws {
        try await Setup.run(settings: ["RELAY_VALIDATION_TIMEOUT_SECONDS": "300"]) { setup in
            let relay = setup.relay
            func ask(_ query: String) async throws -> JSON {
                try await HTTP.get(
                    relay.url + "/entitlements?customerEmail=ana@example.test\(query)",
                    headers: ["Authorization": "Bearer \(relay.keys.app)"]
                ).json
            }
            let first = try await relay.pursue("ana@example.test")
            _ = try await relay.becomes("granted", first)
            // Cleeng takes no other purchase of hers. If it took one, a relay whose read before the forward came too late
            // would grant it by the first entitlement.
            try await SimulatorControl(setup.simulator).behave("ana@example.test", "flaky")
            let second = try await relay.pursue("ana@example.test")
            #expect(try await relay.status(second)["status"].string == "pending")
            for isKept in [true, false] {
                if !isKept {
                    let ledger: SQL = """
                        SELECT count(*) FROM ledgers l JOIN validations v USING (publisher, environment, subscription_key)
                        WHERE l.status = 1 AND v.id = \(.text(String(first.suffix(32))))::uuid
                        """
                    try await Awaiting.fact("the ledger of the first has been looked at", is: 1) {
                        try await setup.database.query(ledger)[0].get(0, as: Int64.self)
                    }
                    _ = try await setup.database.query(SQL("DELETE FROM validations WHERE status = 1"))
                }
                let answer = try await ask("&offerId=S123456789_US")
                #expect(answer["accessGranted"].bool == true && answer["status"].string == "granted", "\(answer)")
                #expect(answer["validationId"].string == first)
                let all = try await ask("")["entitlements"].array ?? []
                #expect(all.map { $0["accessGranted"].bool } == [true], "\(all)")
            }
        }
    }

    /// Retention drops validations, but a running subscription remains known.
    @Test func aRunningSubscriptionIsKnownWithoutItsValidation() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            _ = try await relay.becomes("granted", try await relay.pursue("ana@example.test"))
            try await Awaiting.fact("the ledger has been looked at", is: 1) {
                try await setup.database.query(SQL("SELECT count(*) FROM ledgers WHERE status = 1"))[0].get(
                    0, as: Int64.self)
            }
            _ = try await setup.database.query(SQL("DELETE FROM validations"))
            let answer = try await HTTP.get(
                relay.url + "/entitlements?customerEmail=ana@example.test&offerId=S123456789_US",
                headers: ["Authorization": "Bearer \(relay.keys.app)"])
            #expect(answer.json["status"].string == "granted" && answer.json["accessGranted"].bool == true)
        }
    }
}
