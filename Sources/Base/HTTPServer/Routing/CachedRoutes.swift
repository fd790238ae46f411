import Formats
package import HTTPTypes
import Hummingbird
package import NIOCore

/// An answer that a route made from memory alone.
package struct CachedAnswer {
    var response: HTTPResponse
    var body: ByteBuffer?
    /// Id of the key that the client sent.
    let caller: String
    var subject: RequestSubject?

    package init(response: HTTPResponse, body: ByteBuffer?, caller: String, subject: RequestSubject? = nil) {
        self.response = response
        self.body = body
        self.caller = caller
        self.subject = subject
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
    private let gate: RequestGate

    init(_ routes: [Route], gate: RequestGate) {
        entries = routes.compactMap { route in
            route.cached.map { answer in
                let prefix = String(route.path.prefix { $0 != ":" && $0 != "*" })
                return Entry(prefix: prefix, route: RouterPath(route.path).description, answer: answer)
            }
        }
        self.gate = gate
    }

    func answer(_ head: HTTPRequest, _ channel: any Channel) -> CachedAnswer? {
        guard head.method == .get, !entries.isEmpty, let path = head.path,
            let entry = entries.first(where: { path.hasBytes(first: $0.prefix) }),
            head.headerFields[.connection] == nil
        else { return nil }
        let begin = ContinuousClock.now
        guard var answer = entry.answer(head, path) else { return nil }
        var quotas: [RateQuota] = []
        if let limits = gate.limits {
            guard let taken = limits.take(head, channel, key: answer.caller) else { return nil }
            quotas = taken
        }
        gate.leave(
            gate.enter(head, at: begin), &answer.response.headerFields, of: head.headerFields,
            RequestGate.Outcome(
                route: entry.route, status: answer.response.status, subject: answer.subject, caller: answer.caller,
                quotas: quotas))
        return answer
    }
}
