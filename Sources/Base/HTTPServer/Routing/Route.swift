package import HTTPTypes
package import Hummingbird

/// One route of a front.
package struct Route: Sendable {
    package typealias Handler = @Sendable (Request, FrontContext) async throws -> Response
    /// Answers from memory, on the event loop. Receives a request without a body, and its path.
    package typealias Cached = @Sendable (HTTPRequest, String) -> CachedAnswer?

    package let method: HTTPRequest.Method
    /// Path in Hummingbird's notation, with parameters after colons: `/entitlements/:id`.
    package let path: String
    /// Last segment of the paths that have the method, where the path ends with `**`; nil for all.
    var ending: String?
    package let handler: Handler
    /// Makes the handler's answer from memory alone, if possible; see ``CachedRoutes``.
    var cached: Cached?
    /// Whether no rate limit counts its requests. Only for a path without parameters.
    private(set) var isUnlimited = false

    /// The route without a rate limit, for clients that are few and prove who they are.
    package var unlimited: Route {
        var route = self
        route.isUnlimited = true
        return route
    }

    init(
        method: HTTPRequest.Method, path: String, ending: String? = nil, handler: @escaping Handler,
        cached: Cached? = nil
    ) {
        self.method = method
        self.path = path
        self.ending = ending
        self.handler = handler
        self.cached = cached
    }

    package static func get(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .get, path: path, handler: handler)
    }

    package static func get(_ path: String, cached: Cached?, _ handler: @escaping Handler) -> Route {
        Route(method: .get, path: path, handler: handler, cached: cached)
    }

    package static func delete(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .delete, path: path, handler: handler)
    }

    package static func options(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .options, path: path, handler: handler)
    }

    package static func put(_ path: String, ending: String? = nil, _ handler: @escaping Handler) -> Route {
        Route(method: .put, path: path, ending: ending, handler: handler)
    }

    package static func post(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .post, path: path, handler: handler)
    }

    /// Whether the last segment of a request's path is the ending.
    func isEnding(_ segment: Substring?) -> Bool { ending == nil || segment.map(String.init) == ending }

    /// Adds the route. Paths without the ending get the router's own error.
    func add(to router: Router<FrontContext>) {
        guard ending != nil else {
            router.on(RouterPath(path), method: method, use: handler)
            return
        }
        router.on(RouterPath(path), method: method) { request, context in
            guard isEnding(AllowedMethods.segments(request.uri.path).last) else { throw HTTPError(.notFound) }
            return try await handler(request, context)
        }
    }
}
