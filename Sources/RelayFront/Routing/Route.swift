import HTTPTypes
import Hummingbird

/// One line of a front's table of routes.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, FrontContext) async throws -> Response
    /// Runs on the event loop. Takes a request without a body, and its path.
    typealias Cached = @Sendable (HTTPRequest, String) -> CachedAnswer?

    let method: HTTPRequest.Method
    /// Hummingbird's way of writing it, with names after colons: `/entitlements/:id`.
    let path: String
    let handler: Handler
    /// The same answer as the handler's where memory alone has it; see ``CachedRoutes``.
    var cached: Cached?

    static func get(_ path: String, cached: Cached? = nil, _ handler: @escaping Handler) -> Route {
        Route(method: .get, path: path, handler: handler, cached: cached)
    }

    static func options(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .options, path: path, handler: handler)
    }

    static func put(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .put, path: path, handler: handler)
    }

    static func post(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .post, path: path, handler: handler)
    }
}
