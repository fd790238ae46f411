public import AsyncHTTPClient
import Foundation
public import Logging
import Metrics
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
public import ServiceLifecycle
public import Traces

/// Sends spans that have ended to a collector: OTLP over HTTP, in JSON.
///
/// Nobody waits for it. What cannot be sent is tried again as the protocol has it (429, 502, 503, 504 and broken connections, with a
/// growing pause and heed of `Retry-After`), a few times; then it is dropped and counted in `relay_trace_spans_dropped`.
public struct SpanExporter: Service {
    public struct Target: Sendable {
        /// As it is called: `http://collector:4318/v1/traces`.
        public var url: String
        /// Sent along; they may hold a secret.
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
    /// So long spans are gathered.
    private static let gathering = Duration.milliseconds(200)
    private static let timeout = Duration.seconds(10)
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10)]
    private static let longestPause = Duration.seconds(30)
    /// What is left at the end has as long to go.
    private static let farewell = Duration.seconds(2)

    private let buffer: SpanBuffer
    private let target: Target
    private let resource: TraceResource
    private let httpClient: HTTPClient
    private let logger: Logger
    private let exported = Counter(label: "relay_trace_spans_exported")

    /// - Parameter httpClient: one that does not trace its own calls.
    public init(
        buffer: SpanBuffer, target: Target, resource: TraceResource, httpClient: HTTPClient, logger: Logger
    ) {
        self.buffer = buffer
        self.target = target
        self.resource = resource
        self.httpClient = httpClient
        self.logger = logger
    }

    /// Until a graceful shutdown; what waits by then is sent once more, and not twice.
    public func run() async throws {
        await withGracefulShutdownHandler {
            var troubled = false
            for await _ in buffer.rings {
                // Ended by a shutdown too: then what follows is the farewell.
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
        let end = ContinuousClock.now + Self.farewell
        while case let left = ContinuousClock.now.duration(to: end), left > .zero {
            let spans = buffer.take(atMost: Self.batchSize)
            guard !spans.isEmpty else { return }
            guard case .taken = await send(spans, within: left) else { return drop(spans.count, "shutdown") }
            exported.increment(by: spans.count)
        }
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
                trouble = why
                complain(why, &troubled)
                return drop(spans.count, "refused")
            case .again(let wanted, let why):
                trouble = why
                complain(why, &troubled)
                guard let pause else { break }
                let wait = min(max(wanted ?? .zero, pause), Self.longestPause)
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: wait) }
                // One more try is the last one.
                if Task.isShuttingDownGracefully || Task.isCancelled {
                    if case .taken = await send(spans, within: Self.farewell) {
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
        do {
            var request = HTTPClientRequest(url: target.url)
            request.method = .POST
            for (name, value) in target.headers { request.headers.add(name: name, value: value) }
            request.headers.replaceOrAdd(name: "Content-Type", value: "application/json")
            request.headers.replaceOrAdd(name: "User-Agent", value: "receipt-relay")
            request.body = .bytes(ByteBuffer(data: try OTLP.request(spans, of: resource)))
            let response = try await httpClient.execute(
                request, timeout: .nanoseconds(Int64(limit / .nanoseconds(1))))
            // Read, so that the connection can be used again; what it says does not matter.
            _ = try? await response.body.collect(upTo: 64 << 10)
            switch response.status.code {
            case 200..<300: return .taken
            case 429, 502, 503, 504:
                let seconds = response.headers.first(name: "Retry-After").flatMap { Int($0) }
                return .again(after: seconds.map { .seconds($0) }, "HTTP \(response.status.code)")
            default: return .refused("HTTP \(response.status.code)")
            }
        } catch is EncodingError {
            return .refused("cannot be written")
        } catch {
            // The client's own errors may hold addresses and header values.
            return .again(after: nil, "no answer")
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
