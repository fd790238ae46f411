import Testing

@testable import CleengSimulator
@testable import SimulatorKit

@Suite struct ControlTests {
    @Test func aConfiguredCustomerFollowsTheConfigurationAndNotTheTags() throws {
        let bench = Bench()
        try bench.control(
            "PUT", "/_simulator/customers/ana+never@example.test", #"{"behaviours":["flaky-1","after-0s"]}"#)
        #expect(bench.pay("ana+never@example.test").text == "500")
        #expect(bench.pay("ana+never@example.test").text == "200")
        #expect(try bench.entitlements("ana+never@example.test") == ["S123456789_US active"])
    }

    @Test func theDefaultReachesThoseWithoutBehaviourOfTheirOwnAlsoWhenItChanges() throws {
        let bench = Bench()
        #expect(bench.pay("ana@example.test").text == "200")
        try bench.control("PUT", "/_simulator/default", #"{"behaviours":"flaky-1+after-9s"}"#)
        #expect(bench.pay("ana@example.test", "2").text == "500")
        #expect(bench.pay("ana@example.test", "2").text == "200")
        #expect(bench.pay("ben+reset-1@example.test", "3").text == "reset")
        try bench.control("DELETE", "/_simulator/default")
        #expect(bench.pay("ana@example.test", "4").text == "200")
    }

    @Test func upstreamTroubleBefallsEverythingAndCanBeSwitchedOff() throws {
        let bench = Bench()
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["down"]}"#)
        #expect(bench.pay("ana@example.test").text == "503")
        #expect(bench.read("ana@example.test").text == "503")
        #expect(bench.send("POST", "/3.0/json-rpc", body: "{}", token: nil).text == "503")
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["read-hang","slow-1s"]}"#)
        #expect(bench.pay("ana@example.test").text == "200 after 1000 ms")
        #expect(bench.read("ana@example.test").text == "hang after 1000 ms")
        try bench.control("DELETE", "/_simulator/upstream")
        #expect(bench.read("ana@example.test").text == "200")
        #expect(throws: ControlFault.self) {
            try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["never"]}"#)
        }
    }

    @Test func entitlementsCanBeGivenAndTakenByHand() throws {
        let bench = Bench()
        let path = "/_simulator/customers/ana@example.test/entitlements"
        try bench.control("POST", path, #"{"offerId":"S123456789_US","originalTransactionId":"7"}"#)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US active"])
        try bench.control("POST", path, #"{"offerId":"S123456789_US","status":"terminated"}"#)
        #expect(try bench.entitlements("ana@example.test") == ["S123456789_US terminated"])
        // A terminated subscription does not stand in the way of a new purchase of the same receipt.
        bench.pay("ana@example.test", receipt: "sub-7-a")
        bench.time.advance(milliseconds: 1_000)
        #expect(
            try bench.entitlements("ana@example.test") == ["S123456789_US terminated", "S123456789_US active"])
    }

    @Test(arguments: [
        ("PUT", "/_simulator/customers/ana@example.test", #"{"behaviors":[]}"#),
        ("PUT", "/_simulator/customers/ana@example.test", #"{"behaviours":["faulty-2"]}"#),
        ("PUT", "/_simulator/customers/ana@example.test", #"{"behaviours":[2]}"#),
        ("PUT", "/_simulator/customers/ana", "{}"), ("PUT", "/_simulator/default", "[]"),
        ("PUT", "/_simulator/default", #"{"unknownCustomer":"maybe"}"#),
        ("GET", "/_simulator/customers/nobody@example.test", ""),
        ("POST", "/_simulator/customers/ana@example.test/entitlements", #"{"offerId":"X1"}"#),
        ("GET", "/_simulator/requests?since=noon", ""),
    ])
    func slipsAreToldAndChangeNothing(method: String, target: String, body: String) throws {
        let bench = Bench()
        #expect(throws: ControlFault.self) { try bench.control(method, target, body) }
        #expect(try bench.control("GET", "/_simulator/stats")["customers"] == .int(0))
    }

    @Test func aResetForgetsEverythingAlsoWhatIsStillUnderWay() throws {
        let bench = Bench()
        try bench.control("PUT", "/_simulator/default", #"{"behaviours":["after-1s"]}"#)
        bench.pay("ana@example.test", "1")
        let underWay = bench.begin("POST", "/apple/payment", body: Bench.payment("ben@example.test", "2"))
        try bench.control("PUT", "/_simulator/upstream", #"{"behaviours":["down"]}"#)
        try bench.control("POST", "/_simulator/reset")
        let before = try bench.control("GET", "/_simulator/stats")
        bench.simulator.end(underWay, outcome: .answered, status: 200)
        #expect(try bench.control("GET", "/_simulator/stats") == before)
        #expect(before["payments"] == .int(0))
        #expect(before["requestsRemembered"] == .int(0))
        bench.time.advance(milliseconds: 10_000)
        #expect(try bench.entitlements("ana@example.test") == [])
        #expect(bench.pay("ana@example.test").text == "200")
    }
}
