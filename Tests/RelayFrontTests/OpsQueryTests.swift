import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore
import Testing

@testable import HTTPServer
@testable import Relay

@Suite("Queries of the ops API")
struct OpsQueryTests {
    private func filter(_ query: String?) throws -> ValidationFilter {
        var page = PageQuery(QueryItems(query))
        let filter = ValidationFilter(&page)
        try page.end()
        return filter
    }

    private func wrong(_ query: String) -> [String]? {
        do {
            _ = try filter(query)
            return []
        } catch let problem as Problem {
            return problem.errors.map(\.field)
        } catch {
            return nil
        }
    }

    @Test("a filter of everything")
    func all() throws {
        let id = String(repeating: "0", count: 38)
        let filter = try filter(
            "status=timed_out&olderThanSeconds=90&customerEmail=Ana%2Bx%40example.test&offerId=S1_US&limit=200&cursor=12-\(id)"
        )
        #expect(filter.status == .timedOut && filter.olderThan == .seconds(90) && filter.limit == 200)
        #expect(filter.customer == "ana+x@example.test" && filter.offerID == "S1_US")
        #expect(filter.cursor?.description == "12-\(id)")
    }

    @Test("no parameter means no filter")
    func nothing() throws {
        for query in [nil, "", "&&", "x=", "status=&limit="] {
            let filter = try filter(query)
            #expect(filter.status == nil && filter.limit == 50 && filter.cursor == nil)
        }
    }

    @Test("every wrong parameter is named at once")
    func wrongOnes() {
        #expect(
            wrong("status=x&olderThanSeconds=-1&customerEmail=x&offerId=a%20b&limit=0&cursor=1")
                == ["status", "olderThanSeconds", "customerEmail", "offerId", "limit", "cursor"])
        for query in ["limit=201", "limit=1.5", "limit=99999999999999999999", "limit=+1"] {
            #expect(wrong(query) == ["limit"], "\(query)")
        }
        #expect(wrong("olderThanSeconds=315360001") == ["olderThanSeconds"])
    }

    @Test("an unknown parameter is refused by the API, and ignored in a page's address")
    func unknown() throws {
        #expect(wrong("statsu=granted&parked=true&waiting=true&limit=0") == ["limit", "statsu"])
        var page = PageQuery(QueryItems("statsu=granted&done=retry"), ignoresUnknown: true)
        _ = ValidationFilter(&page)
        try page.end()
    }

    @Test("a plus in a query is a plus; invalid percent-encoding stays unchanged")
    func plus() {
        let items = QueryItems("customerEmail=ana+x@example.test&bad=%ff&twice=1&twice=2&flag")
        #expect(items["customerEmail"] == "ana+x@example.test")
        #expect(items["bad"] == "%ff")
        #expect(items["twice"] == "1")
        #expect(items["flag"] == nil && items["none"] == nil)
    }

    @Test("an operator's reason has 1 to 400 characters")
    func reasons() throws {
        func reason(_ json: String) throws -> String { try OperatorReason.parse(ByteBuffer(string: json)) }
        let longest = String(repeating: "ü", count: 400)
        #expect(try reason(#"{"reason":" because "}"#) == "because")
        #expect(try reason(#"{"reason":"\#(longest)"}"#) == longest)
        for wrong in [
            "{}", "[]", #"{"reason":null}"#, #"{"reason":1}"#, #"{"reason":" "}"#, #"{"reason":"\#(longest)x"}"#,
            #"{"reason":"\u0000"}"#, #"{"reason":"r","dry_run":true}"#,
        ] {
            #expect(throws: Problem(.invalidFields, ""), "\(wrong)") { try reason(wrong) }
        }
        #expect(throws: Problem(.notJSON, "")) { try reason("reason") }
    }

    @Test("a whole number may be written with a fraction of zero")
    func wholeNumbers() throws {
        func limit(_ text: String) throws -> Int {
            try ReplayBody(ByteBuffer(string: #"{"reason":"r","parked":true,"limit":\#(text)}"#)).filter.limit
        }
        #expect(try limit("7") == 7 && limit("7.0") == 7 && limit("1e2") == 100 && limit("null") == 100)
        for wrong in ["7.5", "0.0", "501.0", "1e300", "-0.0", #""7""#] {
            #expect(throws: Problem(.invalidFields, ""), "\(wrong)") { try limit(wrong) }
        }
    }

    @Test("Allow lists a path's methods")
    func allowed() {
        let none: Route.Handler = { _, _ in Response(status: .ok) }
        let methods = AllowedMethods([
            .get("/a/:id", none), .post("/a/:id", none), .post("/b", none), .get("/a/:id/c", none),
            .post("/a/all", none), .get("/d/**", none), .put("/d/**", ending: "e", none),
        ])
        #expect(methods.allow("/a/1") == "GET, HEAD, POST")
        #expect(methods.allow("/b/") == "POST")
        #expect(methods.allow("/a/1/c") == "GET, HEAD")
        #expect(methods.allow("/a/all") == "POST")
        #expect(methods.allow("/d/1/e") == "GET, HEAD, PUT" && methods.allow("/d/e/1/") == "GET, HEAD")
        #expect(methods.allow("/a") == nil && methods.allow("/") == nil && methods.allow("/a/1/c/d") == nil)
    }
}
