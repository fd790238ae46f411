import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1

/// A webhook endpoint's side of one connection: answers 200 to each message at once, or never answers.
final class ReceiveHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPServerRequestFull
    typealias OutboundOut = HTTPServerResponsePart

    private let port: Int
    private let hangs: Bool
    private let received: ReceivedMessages

    init(port: Int, hangs: Bool, received: ReceivedMessages) {
        self.port = port
        self.hangs = hangs
        self.received = received
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let request = Self.unwrapInboundIn(data)
        let text = request.body.map { String(buffer: $0) } ?? ""
        received.note(
            ReceivedMessage(
                port: port, id: request.head.headers.first(name: "webhook-id") ?? "",
                customer: String(text.field("applicationUsername") ?? ""), at: microsecondsNow()),
            body: text)
        guard !hangs else { return }
        let answer = HTTPResponseHead(version: request.head.version, status: .ok, headers: ["Content-Length": "0"])
        context.write(Self.wrapOutboundOut(.head(answer)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// A message that an endpoint received.
struct ReceivedMessage: Encodable, Sendable {
    /// The port that received it.
    var port: Int
    var id: String
    var customer: String
    /// Arrival of its last byte, in microseconds since 1970.
    var at: Int64
}

/// Messages of all endpoints since the last ``take()``.
final class ReceivedMessages: Sendable {
    private struct State {
        var messages: [ReceivedMessage] = []
        var last: String?
    }

    private let state = NIOLockedValueBox(State())

    func note(_ message: ReceivedMessage, body: String) {
        state.withLockedValue { state in
            state.messages.append(message)
            state.last = body
        }
    }

    /// - Returns: the messages, and the body of the last one; nil if none arrived.
    func take() -> (messages: [ReceivedMessage], last: String?) {
        state.withLockedValue { state in
            defer { state = State() }
            return (state.messages, state.last)
        }
    }
}
