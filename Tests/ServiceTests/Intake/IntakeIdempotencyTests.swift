import Foundation
import Postgres
import Testing

/// `Idempotency-Key`: a client's own name for a request, per API key, for a day.
@Suite(.serialized) struct IntakeIdempotencyTests {
    @Test func theKeyNamesTheValidationThatItFirstMade() async throws {
        try await Setup.run { setup in
            let second = try await Relay.makeKey("app", setup.database)
            try await setup.relay.waitUntilKnown([second])
            let purchase = TestPurchase(email: "ida+reject-400-1@example.test")
            func send(_ purchase: TestPurchase, _ name: String, key: String? = nil) async throws -> HTTP.Answer {
                try await setup.relay.purchase(purchase, key: key, headers: ["Idempotency-Key": name])
            }
            let first = try await send(purchase, "\"order-1\"")
            #expect(first.status == 202)
            let id = try #require(first.json["validationId"].string)
            #expect(try await setup.relay.outcome(id)["status"].string == "rejected")
            // Quoted and bare are the same name. It still names the rejected purchase, while the purchase without a
            // name would start again.
            for name in ["order-1", "\"order-1\""] {
                let again = try await send(purchase, name)
                #expect(again.status == 200)
                #expect(again.json["validationId"].string == id)
                #expect(again.json["status"].string == "rejected")
            }
            let other = TestPurchase(email: "other@example.test")
            for name in ["order-1", "\"order-1\""] {
                expectProblem(try await send(other, name), 422, "idempotency_key_reused", name)
            }
            // Another API key, another name: no clash.
            #expect(try await send(other, "order-1", key: second).status == 202)
            #expect(try await send(TestPurchase(email: "third@example.test"), "order-2").status == 202)
            #expect(try await send(TestPurchase(email: "fourth@example.test"), "Order-1").status == 202)
            let fresh = try await setup.relay.purchase(purchase)
            #expect(fresh.status == 202)
            #expect(fresh.json["validationId"].string != id)

            // After a day the name can be used again.
            _ = try await setup.database.query(
                SQL("UPDATE idempotency_keys SET expires_at = now() - interval '1 second'"))
            let late = try await send(TestPurchase(email: "fifth@example.test"), "order-1")
            #expect(late.status == 202)
            #expect(late.json["validationId"].string != id)
            let lives = try await setup.database.query(
                SQL(
                    "SELECT count(*) FROM idempotency_keys WHERE expires_at > now() + interval '23 hours 59 minutes'"))
            #expect(try lives.first?.get(0, as: Int64.self) == 1)
        }
    }

    @Test func ofSimultaneousBodiesWithOneKeyOneIsAccepted() async throws {
        try await Setup.run(role: "front") { setup in
            let second = try await Relay.start(
                database: setup.database, simulator: setup.simulator, role: "front", keys: setup.relay.keys)
            try await second.during {
                let answers = try await withThrowingTaskGroup(of: HTTP.Answer.self) { group in
                    for index in 0..<20 {
                        let purchase = TestPurchase(email: "rush\(index / 2)@example.test", original: "900\(index / 2)")
                        let relay = index.isMultiple(of: 2) ? setup.relay : second
                        group.addTask { try await relay.purchase(purchase, headers: ["Idempotency-Key": "one"]) }
                    }
                    return try await group.reduce(into: [HTTP.Answer]()) { $0.append($1) }
                }
                let taken = answers.filter { $0.status == 202 }
                // Each body was sent twice, so both requests with it are accepted.
                #expect(taken.count == 2, "\(answers.map(\.status))")
                #expect(Set(taken.map { $0.json["validationId"].string }).count == 1)
                for answer in answers where answer.status != 202 {
                    expectProblem(answer, 422, "idempotency_key_reused")
                }
                #expect(try await setup.count("validations") == 1)
            }
        }
    }

    @Test func aKeyThatIsNoneIs400AndAnythingVisibleIsTaken() async throws {
        try await Setup.run(role: "front") { setup in
            for wrong in [
                "\"\"", "\"open", "a b", "\"a\" b", "\"a\";\"b", String(repeating: "k", count: 256), "é",
                "\"\(String(repeating: "k", count: 256))\"",
            ] {
                let answer = try await setup.relay.post(RawPurchase().data, headers: ["Idempotency-Key": wrong])
                expectProblem(answer, 400, "invalid_idempotency_key", wrong)
            }
            #expect(try await setup.count("validations") == 0)
            for good in ["k", String(repeating: "k", count: 255), "8e03978e-40d5-43e8-bc93-6894a57f9324", "';--{}<>"] {
                let answer = try await setup.relay.post(RawPurchase().data, headers: ["Idempotency-Key": good])
                #expect(answer.status == 202, "\(good)")
            }
        }
    }
}
