import Testing

@testable import CleengSimulator

@Suite struct RemoteProcedureTests {
    private static let publisher = #""publisherToken":"pub_tok_simulated""#

    private func token(_ bench: Bench, _ email: String) throws -> String {
        let answer = bench.call("generateCustomerToken", #"{\#(Self.publisher),"customerEmail":"\#(email)"}"#)
        return try #require(answer?["result"]?["token"]?.string)
    }

    @Test func tagsFollowTheEntitlements() throws {
        let bench = Bench()
        try bench.control("PUT", "/_simulator/offers/S123456789_US", #"{"tags":["vod","live"]}"#)
        bench.pay("ana@example.test")
        bench.pay("ana@example.test", "2", offer: "S222222222_US")
        let params = #"{\#(Self.publisher),"customerToken":"\#(try token(bench, "ana@example.test"))"}"#
        #expect(bench.call("getAccessibleTags", params)?["result"]?["tags"] == .array([]))
        bench.time.advance(milliseconds: 1_000)
        let tags = ["S222222222_US", "live", "vod"].map(AnyJSON.string)
        #expect(bench.call("getAccessibleTags", params)?["result"]?["tags"] == .array(tags))
    }

    @Test(arguments: [("1", "1"), (#""abc""#, "abc")])
    func theIdComesBackAsText(sent: String, received: String) {
        let answer = Bench().call("getAccessibleTags", "{}", id: sent)
        #expect(answer?["id"] == .string(received))
    }

    @Test(arguments: [
        ("getAccessibleTags", #"{"publisherToken":"wrong","customerToken":"x"}"#, 3),
        ("getAccessibleTags", #"{"publisherToken":"pub_tok_simulated","customerToken":"x"}"#, 1),
        ("generateCustomerToken", #"{"publisherToken":"pub_tok_simulated","customerEmail":"no@example.test"}"#, 10),
        ("generateCustomerToken", #"{"publisherToken":"pub_tok_simulated"}"#, 11),
        ("getAccessStatus", #"{"customerToken":""}"#, 1),
        ("getCustomer", "[]", 1),
        ("fly", "{}", -32_601),
    ])
    func errorsAreInTheBodyAndTheStatusIs200(method: String, params: String, code: Int64) {
        let bench = Bench()
        let body = #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
        let answer = bench.send("POST", "/api/3.0/json-rpc", body: body, token: nil)
        #expect(answer.status == 200)
        #expect(answer.json?["error"]?["code"] == .int(code))
        #expect(answer.json?["result"] == .null)
    }

    @Test(arguments: [("not json", -32_700), ("[]", -32_600), ("7", -32_600)])
    func whatIsNoCallIsSaidToBeNone(body: String, code: Int64) {
        let answer = Bench().send("POST", "/3.0/json-rpc", body: body, token: nil)
        #expect(answer.status == 200)
        #expect(answer.json?["error"]?["code"] == .int(code))
    }

    @Test func batchesAreAnsweredInOrder() {
        let answer = Bench().send(
            "POST", "/3.0/json-rpc", body: #"[{"id":1,"method":"a"},{"id":2,"method":"b"},3]"#, token: nil)
        guard case .array(let answers) = answer.json else {
            Issue.record("no list")
            return
        }
        #expect(answers.map { $0["id"] } == [.string("1"), .string("2"), .null])
        #expect(answers.map { $0["error"]?["code"] } == [.int(-32_601), .int(-32_601), .int(-32_600)])
    }

    @Test func aCustomerWhoOnlyReadIsUnknown() {
        let bench = Bench()
        bench.read("ana@example.test")
        let params = #"{\#(Self.publisher),"customerEmail":"ana@example.test"}"#
        #expect(bench.call("generateCustomerToken", params)?["error"]?["code"] == .int(10))
        bench.pay("ana@example.test")
        #expect(bench.call("generateCustomerToken", params)?["error"] == .null)
    }

    @Test func accessStatusCountsAddresses() throws {
        let bench = Bench()
        bench.pay("ana+after-0@example.test")
        let token = try token(bench, "ana+after-0@example.test")
        func status(_ address: String) -> AnyJSON? {
            let params = #"{"customerToken":"\#(token)","offerId":"S123456789_US","ipAddress":"\#(address)"}"#
            return bench.call("getAccessStatus", params)
        }
        for last in 1...4 { #expect(status("203.0.113.\(last)")?["result"]?["accessGranted"] == .bool(true)) }
        #expect(status("203.0.113.5")?["error"]?["code"] == .int(14))
        #expect(status("203.0.113.4")?["error"] == .null)
        bench.time.advance(milliseconds: 3 * 3_600_000)
        #expect(status("203.0.113.5")?["error"] == .null)
    }

    @Test func subscriptionsAreListedWithoutTheTerminated() throws {
        let bench = Bench()
        bench.pay("ana+after-0@example.test", "7")
        bench.pay("ana+after-0@example.test", "7", offer: "S222222222_US")
        let params = #"{\#(Self.publisher),"customerEmail":"ana+after-0@example.test","offset":0,"limit":10}"#
        let result = bench.call("listCustomerSubscriptions", params)?["result"]
        #expect(result?["totalItemCount"] == .int(1))
        guard case .array(let items) = result?["items"] else {
            Issue.record("no items")
            return
        }
        #expect(items.first?["offerId"] == .string("S222222222_US"))
        #expect(items.first?["externalPaymentId"] == .string("7"))
    }
}
