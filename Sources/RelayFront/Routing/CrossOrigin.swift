import HTTPTypes
import Hummingbird

/// Lets web pages of allowed origins call some routes (CORS, the Fetch standard): answers preflights, and adds to each answer who may
/// read it.
struct CrossOrigin: Sendable {
    private let allowed: AllowedOrigins
    /// As the router calls them.
    private let routes: Set<String>
    /// Empty where no origin is allowed: then `OPTIONS` is a method that is not taken.
    let preflights: [Route]

    init(_ allowed: AllowedOrigins, _ routes: [Route]) {
        let routes = allowed.isEmpty ? [] : routes
        self.allowed = allowed
        self.routes = Set(routes.map { RouterPath($0.path).description })
        preflights = routes.map { route in
            Route.options(route.path) { _, _ in
                Self.preflight(methods: "\(route.method.rawValue), OPTIONS", headers: Self.requestHeaders)
            }
        }
    }

    private static let requestHeaders =
        "Authorization, Content-Type, Idempotency-Key, If-None-Match, Prefer, X-Customer-Token, Cache-Control, "
        + "traceparent, tracestate"

    /// The answer to a preflight, without the origin that is allowed.
    ///
    /// - Parameters:
    ///   - methods: those that the route takes.
    ///   - headers: header fields that a page may send.
    static func preflight(methods: String, headers: String) -> Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: methods, .accessControlAllowHeaders: headers,
                .accessControlMaxAge: "86400",
            ])
    }

    /// Adds the header fields to an answer of one of the routes.
    ///
    /// - Parameters:
    ///   - headers: the request's.
    ///   - route: as the router calls it.
    func complete(_ fields: inout HTTPFields, of headers: HTTPFields, route: String) {
        guard routes.contains(route) else { return }
        fields[.vary] = "Origin"
        guard let origin = allowed.allow(headers[.origin]) else { return }
        fields[.accessControlAllowOrigin] = origin
        fields[.accessControlExposeHeaders] = "Location, Retry-After, ETag"
    }
}
