import Testing

@testable import CleengSimulator
@testable import SimulatorKit

@Suite struct EntitlementReadTests {
    private static let query = "/3.1/entitlements?customerEmail=ana@example.test"

    @Test(arguments: [
        ("/3.1/entitlements?offset=0&limit=10", "REQ0002"),
        ("\(query)&limit=10", "REQ0002"), ("\(query)&offset=0", "REQ0002"),
        ("\(query)&offset=0&limit=0", "REQ0002"), ("\(query)&offset=0&limit=101", "REQ0002"),
        ("\(query)&offset=-1&limit=10", "REQ0002"), ("\(query)&offset=0&limit=10&status=expired", "REQ0002"),
        ("\(query)&offset=0&limit=10&offerType=X", "REQ0002"),
        ("/3.1/entitlements?customerEmail=a+b@example.test&offset=0&limit=10", "REQ0002"),
    ])
    func aQueryThatCleengWouldNotTakeIs400(target: String, code: String) {
        let answer = Bench().send("GET", target)
        #expect(answer.status == 400)
        #expect(answer.json?["code"] == .string(code))
    }

    @Test func readsWantTheToken() {
        let target = "\(Self.query)&offset=0&limit=10"
        #expect(Bench().send("GET", target, token: nil).status == 401)
        #expect(Bench().send("GET", target, token: "wrong").status == 401)
        #expect(Bench().send("GET", target).status == 200)
    }

    @Test func anUnknownEmailHasAnEmptyListUnlessToldOtherwise() throws {
        let bench = Bench()
        #expect(try bench.entitlements("nobody@example.test") == [])
        try bench.control("PUT", "/_simulator/default", #"{"unknownCustomer":"notFound"}"#)
        #expect(bench.read("nobody@example.test").status == 404)
    }

    @Test func oneTimeOffersShowOnlyWhereAskedFor() throws {
        let bench = Bench()
        bench.pay("ana+after-0@example.test", "1", offer: "S111111111_US")
        bench.pay("ana+after-0@example.test", "2", offer: "A222222222_US")
        bench.pay("ana+after-0@example.test", "3", offer: "P333333333_US")
        let email = "ana+after-0@example.test"
        #expect(try bench.entitlements(email) == ["S111111111_US active", "P333333333_US active"])
        #expect(try bench.entitlements(email, "&offerType=A") == ["A222222222_US active"])
        #expect(try bench.entitlements(email, "&offerType=SPAR").count == 3)
    }

    @Test func statusOffsetAndLimitCutTheListButNotTheCount() throws {
        let bench = Bench()
        let email = "ana@example.test"
        for (status, offer) in [("active", 1), ("cancelled", 2), ("terminated", 3)] {
            try bench.control(
                "POST", "/_simulator/customers/\(email)/entitlements",
                #"{"offerId":"S\#(offer)00000000_US","status":"\#(status)"}"#)
        }
        #expect(try bench.entitlements(email).count == 3)
        #expect(try bench.entitlements(email, "&status=cancelled") == ["S200000000_US cancelled"])
        #expect(try bench.entitlements(email, "&status=all").count == 3)
        let page = bench.send("GET", "\(Self.query)&offset=1&limit=1").json
        #expect(page?["totalItemCount"] == .int(3))
        guard case .array(let items) = page?["items"] else {
            Issue.record("no items")
            return
        }
        #expect(items.map { $0["offerId"]?.string } == ["S200000000_US"])
    }

    @Test func oneCustomerIsReadByIdToo() throws {
        let bench = Bench()
        bench.pay("ana@example.test")
        bench.time.advance(milliseconds: 1_000)
        let id = try #require(
            try bench.control("GET", "/_simulator/customers/ana@example.test")["customerId"]?.integer)
        let list = bench.send("GET", "/3.1/entitlements?customerId=\(id)&offset=0&limit=1")
        #expect(list.json?["totalItemCount"] == .int(1))
        let base = "/3.1/entitlements/customer_id/\(id)/offer_id"
        let one = bench.send("GET", "\(base)/S123456789_US").json
        #expect(one?["accessGranted"] == .bool(true))
        #expect(one?["expiresAt"]?.integer != nil)
        #expect(bench.send("GET", "\(base)/S123456789").json?["accessGranted"] == .bool(true))
        #expect(bench.send("GET", "\(base)/S999999999_US").json?["accessGranted"] == .bool(false))
        #expect(bench.send("GET", "\(base)/S999999999_US").json?["expiresAt"] == .null)
        let customer = bench.send("GET", "/3.1/customers/\(id)").json
        #expect(customer?["data"]?["email"] == .string("ana@example.test"))
        #expect(bench.send("GET", "/3.1/customers/999999999").status == 404)
        #expect(bench.send("GET", "/3.1/customers/ana").status == 400)
    }
}
