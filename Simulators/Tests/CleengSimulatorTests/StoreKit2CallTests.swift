import Foundation
import Testing

@testable import CleengSimulator

/// What StoreKit 2's endpoints take, and what they refuse.
@Suite struct StoreKit2CallTests {
    private static let id = "6F1C1F0E-0000-4000-8000-00000000000a"

    @Test(arguments: [Bench.purchases, Bench.transfers])
    func everyWrongFieldIsNamedAtOnce(path: String) {
        let bodies = [
            (#"{"transactionId":"12a","cleengCustomerId":"7","ipAddress":"::1"}"#, 3),
            (#"{"transactionId":12,"cleengCustomerId":0}"#, 2), (#"{"cleengCustomerId":-1}"#, 2),
            (#"{"transactionId":"","cleengCustomerId":7}"#, 1), ("{}", 2), ("[]", 0), ("", 0), ("nonsense", 0),
        ]
        for (body, wrong) in bodies {
            let answer = Bench().send("POST", path, body: body)
            #expect(Bench.code(answer) == "400 REQ0001", "\(body)")
            let fields = ["transactionId", "cleengCustomerId", "ipAddress"].prefix(wrong).map(AnyJSON.string)
            #expect(answer.json?["fields"] == (wrong == 0 ? nil : .array(fields)), "\(body)")
        }
    }

    @Test(arguments: [
        (#","ipAddress":"203.0.113.9""#, 202), (#","ipAddress":"2001:db8:0:0:0:0:0:1""#, 202),
        (#","ipAddress":null"#, 202), ("", 202), (#","ipAddress":"300.1.1.1""#, 400), (#","ipAddress":9"#, 400),
    ])
    func theAddressMayBeLeftOutButNotBeWrong(more: String, status: Int) throws {
        let bench = Bench()
        let ana = try bench.number(of: "ana@example.test")
        #expect(bench.send("POST", Bench.purchases, body: Bench.purchase("1", ana, more)).status == status)
    }

    @Test func theAddressOfTheCustomerIsRemembered() throws {
        let bench = Bench()
        let ana = try bench.number(of: "ana@example.test")
        bench.send("POST", Bench.purchases, body: Bench.purchase("1", ana, #","ipAddress":"203.0.113.9""#))
        let shown = bench.send("GET", "/3.1/customers/\(ana)").json?["data"]?["lastUserIp"]
        #expect(shown == .string("203.0.113.9"))
    }

    @Test(arguments: ["", "7", "6f1c1f0e-0000-4000-8000-00000000000", "6f1c1f0e-0000-4000-8000-00000000000g"])
    func aCorrelationIdThatIsNoUUIDIsRefused(id: String) throws {
        let bench = Bench()
        let ana = try bench.number(of: "ana@example.test")
        #expect(Bench.code(bench.register(for: ana, correlationId: id)) == "400 REQ0004")
        #expect(Bench.code(bench.move(to: ana, correlationId: id)) == "400 REQ0004")
        #expect(bench.register(for: ana).status == 202)
    }

    @Test func theTokenComesFirst() throws {
        let bench = Bench()
        let ana = try bench.number(of: "ana@example.test")
        let id = try #require(bench.register(for: ana).json?["synchronizationId"]?.string)
        let calls = [
            ("POST", Bench.purchases, "{}"), ("POST", Bench.transfers, "{}"),
            ("GET", "/storekit2/purchases/synchronizations/\(id)", ""),
        ]
        for (method, path, body) in calls {
            #expect(Bench.code(bench.send(method, path, body: body, token: nil)) == "401 AUTH0001")
            #expect(Bench.code(bench.send(method, path, body: body, token: "other")) == "401 AUTH0002")
        }
    }

    @Test func addressesAndMethodsAreToldApart() {
        let bench = Bench()
        #expect(bench.send("GET", Bench.purchases).header("Allow") == "POST")
        #expect(bench.send("GET", Bench.transfers).header("Allow") == "POST")
        let path = "/storekit2/purchases/synchronizations/\(Self.id)"
        #expect(bench.send("POST", path, body: "{}").header("Allow") == "GET")
        #expect(Bench.code(bench.send("GET", path)) == "404 REQ0100")
        #expect(Bench.code(bench.send("GET", "/storekit2/purchases/synchronizations/x")) == "404 REQ0100")
        #expect(bench.send("GET", "/storekit2/purchases/synchronizations").status == 404)
    }

    @Test func aCorrelationIdIsTheIdOfTheSynchronizationInEitherCase() throws {
        let bench = Bench()
        let ana = try bench.number(of: "ana@example.test")
        let started = bench.register(for: ana, correlationId: Self.id)
        #expect(started.json == .object(["synchronizationId": .string(Self.id)]))
        #expect(bench.state(started) == "processing")
        let path = "/storekit2/purchases/synchronizations/\(Self.id.lowercased())"
        #expect(bench.send("GET", path).json == .object(["status": .string("processing")]))
    }

    @Test func otherwiseEachHasAUUIDOfItsOwn() throws {
        let bench = Bench()
        let ana = try bench.number(of: "ana@example.test")
        // Somebody has taken what would come second.
        bench.register("9", for: ana, correlationId: "00000000-0000-4000-8000-000000000002")
        let ids = try ["1", "2", "3"].map { transaction in
            try #require(bench.register(transaction, for: ana).json?["synchronizationId"]?.string)
        }
        #expect(ids.map { $0.suffix(2) } == ["01", "03", "04"])
        #expect(ids.allSatisfy { UUID(uuidString: $0) != nil })
    }

    @Test func aNumberThatNobodyHasIsRefused() throws {
        let bench = Bench()
        let ana = try bench.number(of: "ana@example.test")
        try bench.control("PUT", "/_simulator/customers/ana@example.test", #"{"known":false}"#)
        for number in [ana, 999_999_999, 9_999_999_999] {
            #expect(Bench.code(bench.register(for: number)) == "422 SK2C0100")
            #expect(Bench.code(bench.move(to: number)) == "422 SK2C0100")
        }
    }

    @Test func aTransactionIsLockedWhileItIsLookedAtWhoeverAsks() throws {
        let bench = Bench()
        let (ana, ben) = (try bench.number(of: "ana@example.test"), try bench.number(of: "ben@example.test"))
        #expect(bench.register(for: ana, correlationId: Self.id).status == 202)
        #expect(Bench.code(bench.register(for: ana, correlationId: Self.id)) == "409 SK2C0101")
        #expect(Bench.code(bench.register(for: ana)) == "409 SK2C0101")
        #expect(Bench.code(bench.register(for: ben)) == "409 SK2C0101")
        #expect(Bench.code(bench.move(to: ben)) == "409 SK2C0103")
        // A name that is in use is locked too.
        #expect(Bench.code(bench.register("2", for: ana, correlationId: Self.id.lowercased())) == "409 SK2C0101")
        #expect(bench.register("2", for: ana).status == 202)
        bench.time.advance(milliseconds: 1_000)
        let again = bench.register(for: ana, correlationId: Self.id)
        #expect(again.status == 202)
        #expect(bench.state(again) == "processing")
        bench.time.advance(milliseconds: 1_000)
        #expect(bench.move(to: ben).status == 202)
        #expect(Bench.code(bench.register(for: ana)) == "409 SK2C0101")
    }
}
