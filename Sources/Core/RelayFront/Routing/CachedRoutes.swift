package import HTTPTypes
import Hummingbird
package import NIOCore
package import RelayCore
import RelayStore

/// An answer that a route made from memory alone.
package struct CachedAnswer {
    var response: HTTPResponse
    var body: ByteBuffer?
    let keyID: APIKeyID
    var validation: ValidationID?

    package init(response: HTTPResponse, body: ByteBuffer?, keyID: APIKeyID, validation: ValidationID? = nil) {
        self.response = response
        self.body = body
        self.keyID = keyID
        self.validation = validation
    }
}

/// Routes that can answer from memory, without the router and without a task.
///
/// A route's `cached` returns nil unless it can answer with success at once. The request then goes through the router;
/// no rate limit has counted it yet.
struct CachedRoutes: Sendable {
    private struct Entry {
        /// The path up to its first parameter.
        var prefix: String
        /// The router's name of the route.
        var route: String
        var answer: Route.Cached
    }

    private let entries: [Entry]
    private let recorder: RequestRecorder
    private let limits: RateLimits?
    private let beginsTraces: Bool

    init(_ routes: [Route], recorder: RequestRecorder, limits: RateLimits?, beginsTraces: Bool) {
        entries = routes.compactMap { route in
            route.cached.map { answer in
                let prefix = String(route.path.prefix { $0 != ":" && $0 != "*" })
                return Entry(prefix: prefix, route: RouterPath(route.path).description, answer: answer)
            }
        }
        self.recorder = recorder
        self.limits = limits
        self.beginsTraces = beginsTraces
    }

    func answer(_ head: HTTPRequest, _ channel: any Channel) -> CachedAnswer? {
        guard head.method == .get, !entries.isEmpty, let path = head.path,
            let entry = entries.first(where: { path.hasBytes(first: $0.prefix) }),
            head.headerFields[.connection] == nil
        else { return nil }
        let begin = ContinuousClock.now
        guard var answer = entry.answer(head, path) else { return nil }
        var quotas: [RateQuota] = []
        if let limits {
            guard let taken = limits.take(head, channel, key: answer.keyID) else { return nil }
            quotas = taken
        }
        let requestID = RequestID.of(head.headerFields)
        let span = RequestSpan.start(head, begins: beginsTraces)
        recorder.complete(
            &answer.response.headerFields, of: head.headerFields, quotas, span,
            RequestRecorder.Record(
                method: head.method, route: entry.route, status: answer.response.status,
                duration: ContinuousClock.now - begin, requestID: requestID, validation: answer.validation,
                keyID: answer.keyID))
        return answer
    }
}
