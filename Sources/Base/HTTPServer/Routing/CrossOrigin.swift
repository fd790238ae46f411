import HTTPTypes
package import Hummingbird

/// CORS (the Fetch standard): allows web pages of some origins to call some routes. Answers preflights, and adds the
/// allowed origin to each answer.
package struct CrossOrigin: Sendable {
    private let allowed: AllowedOrigins
    /// The router's names of the routes.
    private let routes: Set<String>
    /// Empty if no origin is allowed: `OPTIONS` is then an unsupported method.
    package let preflights: [Route]

    /// - Parameter fields: header fields that a page may send.
    package init(_ allowed: AllowedOrigins, _ routes: [Route], sending fields: String) {
        let routes = allowed.isEmpty ? [] : routes
        self.allowed = allowed
        self.routes = Set(routes.map { RouterPath($0.path).description })
        preflights = routes.map { route in
            Route.options(route.path) { _, _ in
                Self.preflight(methods: "\(route.method.rawValue), OPTIONS", headers: fields)
            }
        }
    }

    /// The answer to a preflight, without the allowed origin.
    ///
    /// - Parameters:
    ///   - methods: methods of the route.
    ///   - headers: header fields that a page may send.
    package static func preflight(methods: String, headers: String) -> Response {
        Response(
            status: .noContent,
            headers: [
                .accessControlAllowMethods: methods, .accessControlAllowHeaders: headers,
                .accessControlMaxAge: "86400",
            ])
    }

    /// Adds the CORS header fields to an answer of one of the routes.
    ///
    /// - Parameters:
    ///   - headers: header fields of the request.
    ///   - route: the router's name of the route.
    func complete(_ fields: inout HTTPFields, of headers: HTTPFields, route: String) {
        guard routes.contains(route) else { return }
        fields[.vary] = "Origin"
        guard let origin = allowed.allow(headers[.origin]) else { return }
        fields[.accessControlAllowOrigin] = origin
        fields[.accessControlExposeHeaders] = "Location, Retry-After, ETag"
    }
}
