import HTTPTypes
import Hummingbird

/// One line of a front's table of routes.
struct Route: Sendable {
    typealias Handler = @Sendable (Request, FrontContext) async throws -> Response

    let method: HTTPRequest.Method
    /// Hummingbird's way of writing it, with names after colons: `/entitlements/:id`.
    let path: String
    let handler: Handler

    static func get(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .get, path: path, handler: handler)
    }

    static func options(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .options, path: path, handler: handler)
    }

    static func post(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(method: .post, path: path, handler: handler)
    }
}
