import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore

/// Answers requests: from memory at once, or through the router in a task on the connection's event loop.
///
/// A task keeps the memory of its deepest call as long as it lives, and calls through the router are deep. So a long
/// wait gets a task of its own, which keeps little, since ten thousand polls may be held. `scripts/bench --only held`
/// measures it.
struct FrontResponder: Sendable {
    let router: RouterResponder<FrontContext>
    let cached: CachedRoutes
    let folded: FoldedPaths
    let logger: Logger

    /// Nil if the request must go through the router.
    func cached(_ head: HTTPRequest, _ channel: any Channel) -> CachedAnswer? { cached.answer(head, channel) }

    func answer(_ request: Request, _ channel: any Channel, _ connection: NIOLoopBound<RequestHandler>) {
        let executor = connection.value.executor
        Task(executorPreference: executor) {
            let context = FrontContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            do {
                let response = try await router.respond(to: folded.fold(request), context: context)
                let later = context.notes.takeLater()
                guard later != nil || response.body.contentLength == nil else {
                    return await Self.write(response, connection)
                }
                Task(executorPreference: executor) { await Self.write(later, else: response, connection) }
            } catch {
                connection.value.fail(error, hasBegun: false)
            }
        }
    }

    private static func write(
        _ later: RequestNotes.Later?, else response: Response, _ connection: NIOLoopBound<RequestHandler>
    ) async {
        do {
            await write(try await later?() ?? response, connection)
        } catch {
            connection.value.fail(error, hasBegun: false)
        }
    }

    private static func write(_ response: Response, _ connection: NIOLoopBound<RequestHandler>) async {
        connection.value.write(response.head)
        do {
            try await response.body.write(
                Writer(connection: connection, isStream: response.body.contentLength == nil))
        } catch {
            connection.value.fail(error, hasBegun: true)
        }
    }

    private struct Writer: ResponseBodyWriter {
        let connection: NIOLoopBound<RequestHandler>
        /// Whether each part is sent at once.
        let isStream: Bool

        func write(_ buffer: ByteBuffer) async throws {
            connection.value.write(buffer)
            guard isStream else { return }
            try await withCheckedThrowingContinuation { connection.value.flush($0) }
        }

        consuming func finish(_ trailers: HTTPFields?) async throws { connection.value.finish(trailers) }
    }
}
