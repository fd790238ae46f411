public import AsyncHTTPClient
public import Logging
import Metrics
import NIOCore
import NIOHTTP1
import OutboundHTTP
public import ServiceLifecycle
public import Traces

/// Sends ended spans to a collector: OTLP over HTTP, in JSON.
///
/// No caller waits for an export. A failed batch is retried as the protocol requires (429, 502, 503, 504 and broken
/// connections, with a growing pause and `Retry-After`). After a few tries it is dropped and counted in
/// `relay_trace_spans_dropped`.
public struct SpanExporter: Service {
    public struct Target: Sendable {
        /// The whole address: `http://collector:4318/v1/traces`.
        public var url: String
        /// Sent with each request. The values may be secret.
        public var headers: [(name: String, value: String)]

        public init(url: String, headers: [(name: String, value: String)] = []) {
            self.url = url
            self.headers = headers
        }
    }

    private enum Answer {
        case taken
        case again(after: Duration?, String)
        case refused(String)
    }

    private static let batchSize = 512
    /// How long spans are collected into one batch.
    private static let gathering = Duration.milliseconds(200)
    private static let timeout = Duration.seconds(10)
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10)]
    private static let longestPause = Duration.seconds(30)
    private let buffer: SpanBuffer
    private let target: Target
    private let resource: TraceResource
    private let httpClient: HTTPClient
    private let logger: Logger
    private let farewell: Duration
    private let exported = Counter(label: "relay_trace_spans_exported")

    /// - Parameters:
    ///   - httpClient: a client that does not trace its own calls.
    ///   - farewell: time limit for sending the remaining spans at shutdown.
    public init(
        buffer: SpanBuffer, target: Target, resource: TraceResource, httpClient: HTTPClient, logger: Logger,
        farewell: Duration = .seconds(2)
    ) {
        self.buffer = buffer
        self.target = target
        self.resource = resource
        self.httpClient = httpClient
        self.logger = logger
        self.farewell = farewell
    }

    /// Runs until graceful shutdown. The spans that remain then are sent once.
    public func run() async throws {
        await withGracefulShutdownHandler {
            var troubled = false
            for await _ in buffer.signals {
                // A shutdown ends the pause early.
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.gathering) }
                while !Task.isShuttingDownGracefully, !Task.isCancelled {
                    let spans = buffer.take(atMost: Self.batchSize)
                    guard !spans.isEmpty else { break }
                    await export(spans, &troubled)
                }
            }
        } onGracefulShutdown: {
            buffer.close()
        }
        let end = ContinuousClock.now + farewell
        while case let left = ContinuousClock.now.duration(to: end), left > .zero {
            let spans = buffer.take(atMost: Self.batchSize)
            guard !spans.isEmpty else { return }
            guard case .taken = await send(spans, within: left) else {
                drop(spans.count, "shutdown")
                break
            }
            exported.increment(by: spans.count)
        }
        drop(buffer.take(atMost: .max).count, "shutdown")
    }

    private func export(_ spans: [FinishedSpan], _ troubled: inout Bool) async {
        var trouble = ""
        for pause in Self.pauses.map(Optional.some) + [nil] {
            switch await send(spans, within: Self.timeout) {
            case .taken:
                exported.increment(by: spans.count)
                if troubled { logger.notice("the collector takes spans again") }
                troubled = false
                return
            case .refused(let why):
                complain(why, &troubled)
                return drop(spans.count, "refused")
            case .again(let wanted, let why):
                trouble = why
                complain(why, &troubled)
                guard let pause else { break }
                let wait = min(max(wanted ?? .zero, pause), Self.longestPause)
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: wait) }
                // After shutdown begins, one more try is made.
                if Task.isShuttingDownGracefully || Task.isCancelled {
                    if case .taken = await send(spans, within: farewell) {
                        return exported.increment(by: spans.count)
                    }
                    return drop(spans.count, "shutdown")
                }
            }
        }
        logger.debug("spans were dropped", metadata: ["error": "\(trouble)", "count": "\(spans.count)"])
        drop(spans.count, "unreachable")
    }

    private func send(_ spans: [FinishedSpan], within limit: Duration) async -> Answer {
        var headers = HTTPHeaders(target.headers.map { ($0.name, $0.value) })
        headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        let request = OutboundRequest(
            url: target.url, method: .POST, headers: headers,
            body: ByteBuffer(bytes: OTLP.request(spans, of: resource)))
        do {
            // The body is read only so that the connection can be reused.
            let reply = try await HTTPExchange(httpClient, by: .now + limit, atMost: 64 << 10).send(request)
            switch reply.status {
            case 200..<300: return .taken
            case 429, 502, 503, 504:
                let pause = reply.headers.retryAfter(within: .zero...Self.longestPause)
                return .again(after: pause, "HTTP \(reply.status)")
            default: return .refused("HTTP \(reply.status)")
            }
        } catch {
            return .again(after: nil, error.rawValue)
        }
    }

    private func complain(_ why: String, _ troubled: inout Bool) {
        guard !troubled else { return }
        troubled = true
        logger.warning(
            "the collector takes no spans: look at RELAY_TRACING_OTLP_ENDPOINT and its headers",
            metadata: ["error": "\(why)"])
    }

    private func drop(_ count: Int, _ reason: String) {
        Counter(label: "relay_trace_spans_dropped", dimensions: [("reason", reason)]).increment(by: count)
    }
}
