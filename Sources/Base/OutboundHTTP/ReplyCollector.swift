import AsyncHTTPClient
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// Collects one answer on the event loop that reads it. Resumes the caller's task once, with the whole answer.
final class ReplyCollector: HTTPClientResponseDelegate, Sendable {
    private struct Reply {
        var head: HTTPResponseHead
        var receivedAt: ContinuousClock.Instant
        var body = ByteBuffer()
        var bodyDeadline: Scheduled<Void>?
    }

    private let maxBodyBytes: Int
    private let bodyTimeout: TimeAmount?
    private let reply = NIOLockedValueBox<Reply?>(nil)

    init(maxBodyBytes: Int, bodyTimeout: TimeAmount?) {
        self.maxBodyBytes = maxBodyBytes
        self.bodyTimeout = bodyTimeout
    }

    func didReceiveHead(task: HTTPClient.Task<HTTPReply>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        reply.withLockedValue { $0 = Reply(head: head, receivedAt: .now) }
        let announced = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
        guard announced <= maxBodyBytes else {
            return task.eventLoop.makeFailedFuture(OutboundError.responseTooLarge)
        }
        if let bodyTimeout {
            let deadline = task.eventLoop.scheduleTask(in: bodyTimeout) { task.fail(reason: OutboundError.timeout) }
            reply.withLockedValue { $0?.bodyDeadline = deadline }
        }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<HTTPReply>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        let fits = reply.withLockedValue { reply in
            guard let size = reply?.body.readableBytes, size + part.readableBytes <= maxBodyBytes else { return false }
            reply?.body.writeImmutableBuffer(part)
            return true
        }
        return fits
            ? task.eventLoop.makeSucceededVoidFuture()
            : task.eventLoop.makeFailedFuture(OutboundError.responseTooLarge)
    }

    func didFinishRequest(task: HTTPClient.Task<HTTPReply>) throws -> HTTPReply {
        try whole { .success($0) } ?? { throw OutboundError.unreadable }()
    }

    /// - Returns: the answer without its body, if its head had arrived.
    func reply(endedBy error: any Error) throws(OutboundError) -> HTTPReply {
        guard let reply = whole({ _ in .failure(OutboundError(error, afterHead: true)) }) else {
            throw OutboundError(error, afterHead: false)
        }
        return reply
    }

    private func whole(_ body: (ByteBuffer) -> Result<ByteBuffer, OutboundError>) -> HTTPReply? {
        reply.withLockedValue { reply in
            reply?.bodyDeadline?.cancel()
            return reply.map {
                HTTPReply(
                    status: Int($0.head.status.code), headers: $0.head.headers, body: body($0.body),
                    receivedAt: $0.receivedAt)
            }
        }
    }
}
