import NIOCore
import NIOHTTP1

/// Collects one answer from its parts, within a limit of bytes.
struct IncomingAnswer {
    enum Progress: Equatable {
        case unfinished
        /// All of it has arrived.
        ///
        /// - Parameter keepsConnection: whether the server accepts another request on the connection.
        case whole(keepsConnection: Bool)
        case failed(OutboundError)
    }

    private let maxBodyBytes: Int
    private var head: HTTPResponseHead?
    private var receivedAt = ContinuousClock.Instant.now
    private var body = ByteBuffer()

    init(maxBodyBytes: Int) { self.maxBodyBytes = maxBodyBytes }

    var hasHead: Bool { head != nil }

    /// How long the server keeps an idle connection, less a second for a request on its way. Nil if it does not say.
    var serverKeepAlive: TimeAmount? {
        guard let said = head?.headers.first(name: "Keep-Alive") else { return nil }
        let times = said.split(separator: ",").compactMap { part -> Int64? in
            let part = part.drop { $0 == " " }
            return part.lowercased().hasPrefix("timeout=") ? Int64(part.dropFirst(8)) : nil
        }
        return times.first.map { .seconds(min(max($0, 1), 3_600) - 1) }
    }

    mutating func take(_ part: HTTPClientResponsePart) -> Progress {
        switch part {
        case .head(let head):
            self.head = head
            receivedAt = .now
            let announced = head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0
            return announced <= maxBodyBytes ? .unfinished : .failed(.responseTooLarge)
        case .body(let bytes):
            guard body.readableBytes + bytes.readableBytes <= maxBodyBytes else { return .failed(.responseTooLarge) }
            // Most bodies arrive in one part.
            if body.readableBytes == 0 { body = bytes } else { body.writeImmutableBuffer(bytes) }
            return .unfinished
        case .end:
            guard let head else { return .failed(.unreadable) }
            // After 101 the connection speaks another protocol.
            return .whole(keepsConnection: head.isKeepAlive && head.status != .switchingProtocols)
        }
    }

    /// - Parameter error: why the answer ended early; nil if all of it has arrived.
    func result(endedBy error: OutboundError? = nil) -> Result<HTTPReply, OutboundError> {
        guard let head else { return .failure(error ?? .unreadable) }
        return .success(
            HTTPReply(
                status: Int(head.status.code), headers: head.headers,
                body: error.map { .failure($0) } ?? .success(body),
                receivedAt: receivedAt))
    }
}
