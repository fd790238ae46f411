import Testing

@testable import CleengSimulator

@Suite struct NotificationTroubleTests {
    /// What three notifications about a customer's subscription are met with.
    @Test(arguments: [
        ("notification-503-2", ["503", "503", "200"]),
        ("notification-429-1", ["429 Retry-After 1", "200", "200"]),
        ("notification-429-1-date", ["429 Retry-After Fri, 15 Jan 2027 08:00:01 GMT", "200", "200"]),
        ("notification-reject-422", ["422", "422", "422"]),
        ("notification-hang-1", ["hang", "200", "200"]),
        ("notification-reset-1", ["reset", "200", "200"]),
        ("notification-slow-2s-1", ["200 after 2000 ms", "200", "200"]),
        ("notification-lost-answer-1", ["lost answer", "200", "200"]),
        ("read-500", ["200", "200", "200"]),
    ])
    func aCustomersTagsBefallNotificationsAndNothingElse(tag: String, expected: [String]) {
        let email = "ana+after-0+\(tag)@example.test"
        let bench = Bench.granted(to: email)
        #expect((1...3).map { _ in bench.notify(Notices.signed("DID_RENEW")).text } == expected)
        #expect(bench.pay(email, "2").text == "200")
        // Somebody else's, or nobody's.
        #expect(bench.notify(Notices.signed("DID_RENEW", of: "8")).text == "200")
    }

    @Test func whatIsRefusedHasNoEffectAndWhatLosesItsAnswerHas() throws {
        let refused = "ana+after-0+notification-500-1@example.test"
        let bench = Bench.granted(to: refused)
        bench.notify(Notices.signed("REFUND"))
        #expect(try bench.status(refused) == "active")
        bench.notify(Notices.signed("REFUND"))
        #expect(try bench.status(refused) == "terminated")
        let lost = "ana+after-0+notification-lost-answer@example.test"
        let other = Bench.granted(to: lost)
        other.notify(Notices.signed("REFUND"))
        #expect(try other.status(lost) == "terminated")
        #expect(try other.notices().map { $0["outcome"]?.string } == ["lost-answer"])
    }

    @Test func upstreamTroubleBefallsNotificationsOfEverybody() throws {
        let bench = Bench.granted()
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["notification-503-2","slow-1s-2"]}"#)
        #expect(bench.pay("ben@example.test", "2").text == "200 after 1000 ms")
        let met = ["7", "8", "7"].map { bench.notify(Notices.signed("DID_RENEW", of: $0)).text }
        #expect(met == ["503 after 1000 ms", "503", "200"])
        #expect(try bench.notices().map { $0["status"]?.integer } == [503, 503, 200])
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["down"]}"#)
        #expect(bench.notify(Notices.signed("DID_RENEW")).text == "503")
    }

    @Test func aCustomerCanBeConfiguredAtRunTime() throws {
        let bench = Bench.granted()
        try bench.control(
            "PUT", "/_simulator/customers/ana+after-0@example.test", #"{"behaviours":["notification-hang-1"]}"#)
        #expect(bench.notify(Notices.signed("DID_RENEW")).text == "hang")
        #expect(bench.notify(Notices.signed("DID_RENEW")).text == "200")
    }
}
