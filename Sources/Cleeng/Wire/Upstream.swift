import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends one request and reads its answer, all within one deadline and one bound.
struct Upstream: Sendable {
    let httpClient: HTTPClient
    let maxResponseBytes: Int

    /// - Throws: where not even the head of an answer arrived.
    func send(
        _ request: HTTPClientRequest, deadline: ContinuousClock.Instant
    ) async throws(CleengTrouble) -> UpstreamReply {
        // The client's own deadline ends with the head, so a body that trickles has to be raced against the clock.
        let (result, isLate) = await withTaskGroup(of: Result<UpstreamReply, CleengTrouble>?.self) { group in
            group.addTask { await exchange(request, deadline: deadline) }
            group.addTask {
                try? await Task.sleep(until: deadline, clock: .continuous)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            if let first { return (first, false) }
            // The cancelled exchange still tells the head, if that arrived.
            let cancelled = await group.next() ?? nil
            return (cancelled ?? .failure(.timeout), !Task.isCancelled)
        }
        var reply = try result.mapError { isLate && $0 == .cancelled ? .timeout : $0 }.get()
        reply.body = reply.body.mapError { isLate && $0 == .cancelled ? .timeout : $0 }
        return reply
    }

    private func exchange(
        _ request: HTTPClientRequest, deadline: ContinuousClock.Instant
    ) async -> Result<UpstreamReply, CleengTrouble> {
        do {
            let remaining = TimeAmount(max(.zero, ContinuousClock.now.duration(to: deadline)))
            let response = try await httpClient.execute(request, deadline: .now() + remaining)
            let announced = response.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            let body = announced > maxResponseBytes ? .failure(.responseTooLarge) : await collect(response.body)
            return .success(
                UpstreamReply(status: Int(response.status.code), headers: response.headers, body: body))
        } catch {
            return .failure(CleengTrouble(error, beforeHead: true))
        }
    }

    private func collect(_ body: HTTPClientResponse.Body) async -> Result<ByteBuffer, CleengTrouble> {
        var collected = ByteBuffer()
        do {
            for try await chunk in body {
                guard collected.readableBytes + chunk.readableBytes <= maxResponseBytes else {
                    return .failure(.responseTooLarge)
                }
                collected.writeImmutableBuffer(chunk)
            }
            // A cancelled body may end like a whole one.
            return Task.isCancelled ? .failure(.cancelled) : .success(collected)
        } catch {
            return .failure(CleengTrouble(error, beforeHead: false))
        }
    }
}

extension CleengTrouble {
    /// Sorts what the HTTP client throws. Only the kind is kept: some of its errors hold header values.
    fileprivate init(_ error: any Error, beforeHead: Bool) {
        switch error {
        case is CancellationError: self = .cancelled
        case let error as HTTPParserError: self = error == .invalidEOFState ? .connectionClosed : .unreadable
        case let error as HTTPClientError:
            switch error {
            case .cancelled, .requestStreamCancelled: self = .cancelled
            case .deadlineExceeded, .connectTimeout, .readTimeout, .writeTimeout, .tlsHandshakeTimeout,
                .getConnectionFromPoolTimeout:
                self = .timeout
            case .remoteConnectionClosed, .uncleanShutdown: self = .connectionClosed
            default: self = beforeHead ? .connectionFailed : .connectionClosed
            }
        // Of a connection that was made: the other side was gone while we still sent.
        case let error as IOError where [ECONNRESET, EPIPE, ENOTCONN].contains(error.errnoCode):
            self = .connectionClosed
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.outputClosed, ChannelError.eof:
            self = .connectionClosed
        default: self = beforeHead ? .connectionFailed : .connectionClosed
        }
    }
}
