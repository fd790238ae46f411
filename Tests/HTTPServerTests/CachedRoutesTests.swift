import Formats
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import ReceiverSupport
import Telemetry
import Testing

@testable import HTTPServer

@Suite("Cached answers")
struct CachedRoutesTests {
    private static let key = "0123456789abcdef"

    /// A route that knows `/known/one` and nothing else.
    private static let route = Route.get(
        "/known/:id",
        cached: { _, path in
            guard path == "/known/one" else { return nil }
            return CachedAnswer(
                response: HTTPResponse(status: .ok), body: ByteBuffer(string: "{}"), caller: key,
                subject: RequestSubject("thing", 7))
        },
        { _, _ in Response(status: .ok) })

    private static func routes(_ limits: RateLimits?, _ log: CapturedLog = CapturedLog()) -> CachedRoutes {
        CachedRoutes(
            [route, .get("/other") { _, _ in Response(status: .ok) }],
            gate: RequestGate(
                metrics: FrontMetrics(registry: PrometheusRegistry()),
                logger: log.logger, limits: limits))
    }

    private static func request(
        _ path: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: "x", path: path, headerFields: fields)
    }

    /// The server's side of a connection; only that has a client address.
    private static func withChannel(_ body: (any Channel) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group).bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(server.localAddress)
        let channel = try await ClientBootstrap(group: group).connect(to: address).get()
        do {
            try await body(channel)
        } catch {
            try? await channel.close()
            try? await server.close()
            throw error
        }
        try await channel.close()
        try await server.close()
    }

    @Test("known answers are sent, other requests go to the router")
    func known() async throws {
        try await Self.withChannel { channel in
            let routes = Self.routes(nil)
            let mine = HTTPFields(dictionaryLiteral: (.xRequestID, "mine"))
            let answer = try #require(routes.answer(Self.request("/known/one", .get, mine), channel))
            #expect(answer.response.headerFields[.xRequestID] == "mine")
            #expect(answer.response.headerFields[.rateLimit] == nil)
            for request in [
                Self.request("/known/two"), Self.request("/other"), Self.request("/"),
                Self.request("/known/one", .post), Self.request("/known/one", .head),
                Self.request("/known/one", .get, [.connection: "close"]),
            ] { #expect(routes.answer(request, channel) == nil, "\(request)") }
        }
    }

    @Test("the log line names the key, the thing and the request")
    func logged() async throws {
        try await Self.withChannel { channel in
            let log = CapturedLog()
            let mine = HTTPFields(dictionaryLiteral: (.xRequestID, "mine"))
            _ = try #require(Self.routes(nil, log).answer(Self.request("/known/one", .get, mine), channel))
            let line = try #require(log.lines.first)
            for part in [
                "\"thing_id\": 7", "\"key_id\": \(Self.key)", "\"request_id\": mine", "\"route\": /known/{id}",
                "\"status\": 200",
            ] { #expect(line.contains(part), "\(part) in \(line)") }
        }
    }

    @Test("an answer counts once in both limits, and in neither if one is exhausted")
    func limited() async throws {
        try await Self.withChannel { channel in
            for (keys, addresses) in [(2, 5), (5, 2), (2, 2)] {
                let limits = RateLimits(
                    keys: RateLimiter("key", RateLimit(rate: 0.000_1, burst: keys)),
                    addresses: RateLimiter("address", RateLimit(rate: 0.000_1, burst: addresses)), trustedProxies: [])
                let routes = Self.routes(limits)
                for left in [1, 0] {
                    let answer = try #require(routes.answer(Self.request("/known/one"), channel))
                    let quota = try #require(answer.response.headerFields[.rateLimit])
                    #expect(quota.hasPrefix("\"address\";r=\(addresses - 2 + left);"))
                    #expect(quota.contains(", \"key\";r=\(keys - 2 + left);"))
                }
                for _ in 0..<3 { #expect(routes.answer(Self.request("/known/one"), channel) == nil) }
                #expect(limits.keys?.take(Self.key).decision.remaining == max(0, keys - 3))
                #expect(limits.addresses?.take("127.0.0.1").decision.remaining == max(0, addresses - 3))
            }
        }
    }
}
