import Foundation
import NIOHTTP1
import Testing

/// A key opens only the routes of its role.
@Suite(.serialized) struct IntakeKeyTests {
    @Test func withoutAKeyThatOpensTheRouteThereIs401Or403() async throws {
        try await Setup.run { setup in
            let relay = setup.relay
            let publisher = try await Relay.makeKey("publisher", setup.database)
            let accepted = try await relay.purchase(TestPurchase(email: "kay@example.test"))
            let id = try #require(accepted.json["validationId"].string)
            let app: [(HTTPMethod, String)] = [
                (.POST, "/apple/payment"), (.GET, "/entitlements/\(id)"),
                (.GET, "/entitlements?customerEmail=kay@example.test&offerId=S123456789_US"),
            ]
            let view: [(HTTPMethod, String)] = [
                (.GET, "/ops/validations"), (.GET, "/ops/validations/\(id)"), (.GET, "/ops/summary"),
            ]
            let act: [(HTTPMethod, String)] = [
                (.POST, "/ops/validations/\(id)/retry"), (.POST, "/ops/validations/\(id)/abandon"),
            ]
            func call(_ route: (HTTPMethod, String), _ authorization: String?, ops: Bool) async throws -> HTTP.Answer {
                var headers = ["Content-Type": "application/json"]
                headers["Authorization"] = authorization
                let body = ops ? Data(#"{"reason":"test"}"#.utf8) : RawPurchase().data
                return try await HTTP.call(
                    route.0, (ops ? relay.opsURL : relay.url) + route.1, headers: headers,
                    body: route.0 == .POST ? body : nil)
            }
            let good = relay.keys.app
            let unknown = String(good.dropLast(4)) + (good.hasSuffix("0000") ? "1111" : "0000")
            let strangers: [String?] = [
                nil, "", "Bearer", "Bearer ", "Basic \(Data("main:\(good)".utf8).base64EncodedString())", good,
                "Bearer \(unknown)", "Bearer x", "Bearer \(good)x", "Bearer \(good) x", "Bearer rr_app__",
                "Bearer ____",
                "Bearer \(String(repeating: "é", count: 64))", "Bearer \(String(repeating: "k", count: 8_000))",
                "Bearer ' OR 1=1 --",
            ]
            for stranger in strangers {
                for (routes, ops) in [(app, false), (view + act, true)] {
                    // All routes with the common cases, one route of each front with the rare ones.
                    let tried = stranger == nil || stranger == "Bearer \(unknown)" ? routes : Array(routes.prefix(1))
                    for route in tried {
                        let answer = try await call(route, stranger, ops: ops)
                        expectProblem(answer, 401, nil, "\(stranger?.prefix(20) ?? "nil") \(route)")
                        #expect(answer.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
                    }
                }
            }
            for key in [relay.keys.viewer, relay.keys.operator, publisher] {
                for route in app {
                    expectProblem(try await call(route, "Bearer \(key)", ops: false), 403, "wrong_role", "\(route)")
                }
            }
            for key in [relay.keys.app, publisher] {
                for route in view + act {
                    expectProblem(try await call(route, "Bearer \(key)", ops: true), 403, "wrong_role", "\(route)")
                }
            }
            for route in act {
                expectProblem(
                    try await call(route, "Bearer \(relay.keys.viewer)", ops: true), 403, "wrong_role", "\(route)")
            }
            for route in view {
                #expect(try await call(route, "Bearer \(relay.keys.operator)", ops: true).status == 200)
            }
            // The scheme's name ignores case.
            #expect(try await call(app[1], "bearer \(good)", ops: false).status == 200)
        }
    }
}
