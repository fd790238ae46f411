import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Answers a connection's requests, one after the other.
///
/// A task keeps the memory of its deepest call for as long as it lives, and a connection's task lives for as long as the
/// connection. So the way through the router is walked in a brief task of its own; what is awaited for long is awaited here,
/// where little stands: ten thousand held polls keep it all ten thousand times. `scripts/bench --only held` shows it.
struct FrontResponder: Sendable {
    let router: RouterResponder<FrontContext>
    let logger: Logger

    /// The answer was not read to its end, or its request could not be: the connection is closed.
    private struct AnswerBrokenOff: Error {}

    @concurrent
    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let response = try await answer(
            FoldedPath.fold(request),
            FrontContext(source: ApplicationRequestContextSource(channel: channel, logger: logger)))
        do {
            try await writer.write(response: response.head, body: response.body)
        } catch is HTTPParserError {
            // Thrown on, it would be answered with a second head.
            throw AnswerBrokenOff()
        }
    }

    private func answer(_ request: Request, _ context: FrontContext) async throws -> Response {
        let response = try await route(request, context)
        guard let later = context.notes.takeLater() else { return response }
        return try await later()
    }

    /// A function of its own: the task is there until the function that has begun it is over.
    private func route(_ request: Request, _ context: FrontContext) async throws -> Response {
        async let answer = router.respond(to: request, context: context)
        return try await answer
    }
}
