import Testing

@testable import CleengSimulator
@testable import SimulatorKit

@Suite struct BehaviourTests {
    /// What three payment calls in a row are met with.
    @Test(arguments: [
        ("reject", ["400", "400", "400"]),
        ("reject-422", ["422", "422", "422"]),
        ("reject-409-1", ["409", "200", "200"]),
        ("unauthorized", ["401", "401", "401"]),
        ("forbidden-1", ["403", "200", "200"]),
        ("notfound-2", ["404", "404", "200"]),
        ("throttled-2", ["429 Retry-After 1", "429 Retry-After 1", "200"]),
        ("throttled-1-date", ["429 Retry-After Fri, 15 Jan 2027 08:00:01 GMT", "200", "200"]),
        ("throttled-1-bare", ["429", "200", "200"]),
        ("flaky-2", ["500", "500", "200"]),
        ("down", ["503", "503", "503"]),
        ("hang", ["hang", "hang", "hang"]),
        ("hang-2", ["hang", "hang", "200"]),
        ("reset-2", ["reset", "reset", "200"]),
        ("lost-answer-1", ["lost answer", "200", "200"]),
        ("slow-5s-1", ["200 after 5000 ms", "200", "200"]),
        ("slow-250ms+flaky-1", ["500 after 250 ms", "200 after 250 ms", "200 after 250 ms"]),
        ("status-418-1+reset-1", ["418", "reset", "200"]),
        ("newsletter", ["200", "200", "200"]),
    ])
    func paymentsAreMetWithWhatTheTagsSay(tags: String, expected: [String]) {
        let bench = Bench()
        let outcomes = (1...3).map { _ in bench.pay("ana+\(tags)@example.test").text }
        #expect(outcomes == expected)
        #expect(bench.read("ana+\(tags)@example.test").status == 200)
    }

    @Test(arguments: [
        ("read-500-2", ["500", "500", "200"]),
        ("read-429", ["429 Retry-After 1", "429 Retry-After 1", "429 Retry-After 1"]),
        ("read-hang-1", ["hang", "200", "200"]),
        ("read-reset-1", ["reset", "200", "200"]),
        ("read-slow-2s-1", ["200 after 2000 ms", "200", "200"]),
    ])
    func readsAreMetWithWhatTheTagsSay(tags: String, expected: [String]) {
        let bench = Bench()
        #expect(bench.pay("ana+\(tags)@example.test").text == "200")
        #expect((1...3).map { _ in bench.read("ana+\(tags)@example.test").text } == expected)
    }

    @Test func garbageOnReadsIsNoJSON() throws {
        let bench = Bench()
        let reply = try #require(bench.read("ana+garbage@example.test").reply)
        #expect(reply.status == 200)
        #expect(reply.body.flatMap { AnyJSON.parse($0) } == nil)
        #expect(bench.pay("ana+garbage@example.test").json?["success"] == .bool(true))
    }

    @Test func aPaymentWhoseAnswerIsLostTakesEffectButOneThatIsRefusedDoesNot() throws {
        let bench = Bench()
        bench.pay("ana+lost-answer@example.test", "1")
        bench.pay("ben+flaky@example.test", "2")
        bench.pay("cia+payment-garbage@example.test", "3")
        bench.time.advance(milliseconds: 1_000)
        #expect(try bench.entitlements("ana+lost-answer@example.test") == ["S123456789_US active"])
        #expect(try bench.entitlements("ben+flaky@example.test") == [])
        #expect(try bench.entitlements("cia+payment-garbage@example.test") == ["S123456789_US active"])
    }

    @Test(arguments: [
        ("after-3s", 3_000), ("after-250ms", 250), ("late-70s", 70_000), ("after-2m", 120_000), ("after-4", 4_000),
    ])
    func aGrantComesWhenTheTagSays(tag: String, milliseconds: Int64) throws {
        let bench = Bench()
        bench.pay("ana+\(tag)@example.test")
        bench.time.advance(milliseconds: milliseconds - 1)
        #expect(try bench.entitlements("ana+\(tag)@example.test") == [])
        bench.time.advance(milliseconds: 1)
        #expect(try bench.entitlements("ana+\(tag)@example.test") == ["S123456789_US active"])
    }

    @Test(arguments: [("terminated", "terminated"), ("cancelled", "cancelled"), ("expired-active", "active")])
    func grantsCarryTheStatusThatTheTagSays(tag: String, status: String) throws {
        let bench = Bench()
        bench.pay("ana+\(tag)+after-0@example.test")
        bench.pay("ana+\(tag)+after-0@example.test")
        guard case .array(let items) = bench.read("ana+\(tag)+after-0@example.test").json?["items"] else {
            Issue.record("no items")
            return
        }
        #expect(items.map { $0["status"]?.string } == [status])
        let expiry = try #require(items.first?["expiresAt"]?.integer)
        #expect((expiry < bench.time.now.unixSeconds) == (tag == "expired-active"))
    }

    @Test func theEntitledAreEntitledBeforeAnyPayment() throws {
        let bench = Bench { $0.heldOffers = [OfferId("S111111111_US")].compactMap { $0 } }
        #expect(try bench.entitlements("ana+entitled@example.test") == ["S111111111_US active"])
        #expect(
            try bench.entitlements("ben+entitled-s222222222_de+cancelled@example.test")
                == ["S222222222_DE cancelled"])
    }

    @Test(arguments: [
        "after", "after-x", "after-9999999999999s", "never-1", "flaky-0", "flaky-2-3", "throttled-1-noon",
        "reject-500x",
        "slow", "lost", "lost-answers", "status-99", "read", "entitled-nothing", "", "hang-99999999",
        "notification", "notification-twice",
    ])
    func whatMeansNothingIsAFaultInTheControlAPIAndIgnoredInAnEmail(name: String) {
        #expect(throws: ControlFault.self) { _ = try Behaviour(names: [name]) }
        #expect(Behaviour(plusTags: [name[...]]) == Behaviour())
    }
}
