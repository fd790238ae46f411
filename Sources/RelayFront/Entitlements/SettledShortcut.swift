import HTTPTypes
import NIOCore
import NIOHTTPTypes
import RelayCore
import RelayStore

/// Answers a poll for what is settled, or a publisher's question for a customer's purchases, where the answer is known in memory,
/// right where it is read: no task, no router, no hop.
///
/// It takes only what it can answer with 200 or 304 at once, and lets everything else pass to the routes, whose answer to the
/// same request would be the same. What it saves is most of what such a request costs: `scripts/bench --only poll,purchases`
/// shows it.
final class SettledShortcut: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    struct Parts: Sendable {
        let store: RelayStore
        let keys: KeyRing
        let poll: PollInterval
        let recorder: RequestRecorder
    }

    private struct Answer {
        var head: HTTPResponse
        var body: ByteBuffer?
        var record: RequestRecorder.Record
        var begin: ContinuousClock.Instant
    }

    private let parts: Parts
    /// Given when the request has been read to its end.
    private var pending: Answer?
    /// Answers go out in the order of their requests: while the routes have one to give, all pass.
    private var passed = 0
    private var passedAt = ContinuousClock.now
    private var needsFlush = false
    private var isQuiescing = false

    /// The connection's idle timer sees what passes, and nothing else: so often something has to.
    private static let longestShortcut = Duration.seconds(10)
    /// As the router calls them.
    private static let pollRoute = "/entitlements/{id}"
    private static let purchasesRoute = "/v2/customers/**"

    init(_ parts: Parts) {
        self.parts = parts
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            pending = passed == 0 && !isQuiescing ? answer(to: head) : nil
            if pending != nil { return }
            passed += 1
            passedAt = .now
        case .body: if pending != nil { return }
        case .end: if pending != nil { return give(context) }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if needsFlush {
            needsFlush = false
            context.flush()
        }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .end: passed -= 1
        case .head, .body: break
        }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            isQuiescing = true
            if pending != nil {
                give(context)
                context.flush()
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func give(_ context: ChannelHandlerContext) {
        guard var answer = pending else { return }
        pending = nil
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        if let body = answer.body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        needsFlush = true
        answer.record.duration = .now - answer.begin
        parts.recorder.take(answer.record)
    }

    /// Nil where it is for the routes to say.
    private func answer(to head: HTTPRequest) -> Answer? {
        let begin = ContinuousClock.now
        guard head.method == .get, begin - passedAt < Self.longestShortcut, head.headerFields[.connection] == nil,
            // Who follows a trace gets the spans of the longer way.
            head.headerFields[.traceparent] == nil,
            let path = head.path
        else { return nil }
        if path.hasBytes(first: "/entitlements/") { return poll(path, head.headerFields, begin) }
        return path.hasBytes(first: "/v2/customers/") ? purchases(path, head.headerFields, begin) : nil
    }

    private func poll(_ path: String, _ headers: HTTPFields, _ begin: ContinuousClock.Instant) -> Answer? {
        guard let id = Self.validation(path), headers[.prefer] == nil, !AcceptHeader.wantsEventStream(headers[.accept]),
            let credentials = BearerCredentials.parse(headers[.authorization]),
            let key = parts.keys.known(credentials), key.role.opens(.app),
            let known = parts.store.settled(id), known.validation.publisher == key.publisher,
            known.validation.app == key.app
        else { return nil }
        let poll = PollAnswer(poll: parts.poll, ifNoneMatch: headers[.ifNoneMatch])
        let (response, body) = poll.parts(known)
        return finished(response, body, headers, Self.pollRoute, validation: id, key: key, begin)
    }

    private func purchases(_ path: String, _ headers: HTTPFields, _ begin: ContinuousClock.Instant) -> Answer? {
        guard let name = CustomerPath.plainName(path),
            let named = NamedCredentials(authorization: headers[.authorization], query: QueryItems(nil)),
            let key = parts.keys.known(named.key[...]), key.publisher == named.publisher, key.role.opens(.publisher),
            let known = parts.store.knownPurchases(of: CustomerName(publisher: key.publisher, username: name))
        else { return nil }
        let body = ByteBuffer(bytes: known.json)
        var fields = PurchaseRoutes.headers
        fields[.contentLength] = String(body.readableBytes)
        return finished(
            HTTPResponse(status: .ok, headerFields: fields), body, headers, Self.purchasesRoute, validation: nil,
            key: key, begin)
    }

    private func finished(
        _ response: HTTPResponse, _ body: ByteBuffer?, _ headers: HTTPFields, _ route: String,
        validation: ValidationID?, key: APIKey, _ begin: ContinuousClock.Instant
    ) -> Answer {
        let requestID = RequestID.of(headers)
        var response = response
        response.headerFields[.xRequestID] = requestID
        return Answer(
            head: response, body: body,
            record: RequestRecorder.Record(
                method: .get, route: route, status: response.status, duration: .zero, requestID: requestID,
                validation: validation, keyID: key.id),
            begin: begin)
    }

    private static func validation(_ path: String) -> ValidationID? {
        ValidationID(path[path.utf8.index(path.startIndex, offsetBy: 14)...])
    }
}

@available(*, unavailable)
extension SettledShortcut: Sendable {}
