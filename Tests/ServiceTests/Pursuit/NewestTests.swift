import Foundation
import Testing

/// `GET /entitlements?customerEmail=&offerId=`: is this customer entitled to this offer now?
@Suite struct NewestTests {
    @Test func theNewestOfTheTwoIsTold() async throws {
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

            // Another offer, another app, another publisher: nothing is known.
            #expect(
                try await ask("customerEmail=ana%2Bafter-1s@example.test&offerId=S598742062_US").json["status"].string
                    == "unknown")
            for key in [
                try await Relay.makeKey("app", setup.database, app: "com.example.other"),
                try await Relay.makeKey("app", setup.database, publisher: "second"),
            ] {
                let answer = try await Awaiting.fact("the key is known", of: { try await ask(query, key: key) }) {
                    $0.status != 401
                }
                #expect(answer.status == 200)
                #expect(answer.json["status"].string == "unknown")
            }
            #expect(try await ask(query, key: relay.keys.operator).status == 403)

            // A new try on an old failure is what counts while it is in flight.
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
                ("offerId=S123456789_US", "customerEmail"), ("customerEmail=ana@example.test", "offerId"),
                ("customerEmail=nobody&offerId=S123456789_US", "customerEmail"),
                ("customerEmail=ana@example.test&offerId=", "offerId"),
            ] {
                let answer = try await ask(bad)
                #expect(answer.status == 422, "\(bad)")
                #expect(answer.header("Content-Type") == "application/problem+json")
                #expect(answer.json["errors"].array?.map { $0["field"].string } == [field], "\(bad)")
            }
            #expect(try await ask("").json["errors"].array?.count == 2)
        }
    }
}
