import HTTPTypes
import Hummingbird
import Testing

@testable import HTTPServer

@Suite("Web pages of other origins")
struct CrossOriginTests {
    @Test("listed origins are allowed, or all")
    func origins() throws {
        let listed = try #require(
            AllowedOrigins("https://Shop.example.com, http://localhost:8100,ionic://localhost,file://"))
        for origin in ["https://shop.example.com", "http://localhost:8100", "ionic://localhost", "file://"] {
            #expect(listed.allow(origin) == origin)
        }
        for origin in ["https://example.com", "https://shop.example.com:8443", "http://shop.example.com", "null", "*"] {
            #expect(listed.allow(origin) == nil)
        }
        #expect(listed.allow(nil) == nil)
        let any = try #require(AllowedOrigins(" * "))
        #expect(any.allow("https://example.com") == "*" && any.allow(nil) == "*")
        #expect(AllowedOrigins.none.allow("https://example.com") == nil)
    }

    @Test(
        "an invalid origin is refused",
        arguments: [
            "", "shop.example.com", "https://shop.example.com/", "https://a.example,", "*,https://a.example", "null",
            "https://a b", "https://user@a.example",
        ])
    func malformed(_ text: String) {
        #expect(AllowedOrigins(text) == nil)
    }

    private static let routes = [
        Route.post("/apple/payment") { _, _ in Response(status: .accepted) },
        Route.get("/entitlements/:id") { _, _ in Response(status: .ok) },
    ]

    @Test("only answers of the app's routes have headers for origins")
    func answers() throws {
        let crossOrigin = CrossOrigin(
            try #require(AllowedOrigins("https://a.example")), Self.routes, sending: "Authorization")
        func fields(_ route: String, _ origin: String) -> HTTPFields {
            var fields: HTTPFields = [.location: "/x"]
            crossOrigin.complete(&fields, of: [.origin: origin], route: route)
            return fields
        }
        for route in Self.routes.map({ RouterPath($0.path).description }) {
            let allowed = fields(route, "https://a.example")
            #expect(allowed[.accessControlAllowOrigin] == "https://a.example" && allowed[.vary] == "Origin")
            #expect(allowed[.accessControlExposeHeaders] == "Location, Retry-After, ETag")
            let refused = fields(route, "https://b.example")
            #expect(refused[.accessControlAllowOrigin] == nil && refused[.vary] == "Origin")
        }
        #expect(fields("/v2/customers", "https://a.example") == [.location: "/x"])
    }

    @Test("preflights of allowed origins are answered")
    func preflights() throws {
        #expect(CrossOrigin(.none, Self.routes, sending: "Authorization").preflights.isEmpty)
        let preflights = CrossOrigin(try #require(AllowedOrigins("*")), Self.routes, sending: "Authorization")
            .preflights
        #expect(preflights.map(\.path) == Self.routes.map(\.path))
        #expect(preflights.allSatisfy { $0.method == .options })
    }
}
