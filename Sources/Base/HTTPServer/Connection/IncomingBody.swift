import NIOConcurrencyHelpers
import NIOCore

/// A request's body that is still arriving. One task reads it once.
final class IncomingBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    private struct State {
        var received: ByteBuffer?
        var end: Result<ByteBuffer?, any Error>?
        var reader: CheckedContinuation<ByteBuffer?, any Error>?
        var isDiscarded = false
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let body: IncomingBody

        mutating func next() async throws -> ByteBuffer? { try await body.next() }
    }

    /// Number of unread bytes above which the connection is not read.
    private static let mostBytes = 64 << 10

    private let state: NIOLockedValueBox<State>
    private let onRead: @Sendable () -> Void

    /// - Parameters:
    ///   - received: bytes that have arrived already.
    ///   - onRead: called when there is space for more bytes.
    init(_ received: ByteBuffer?, onRead: @escaping @Sendable () -> Void) {
        state = NIOLockedValueBox(State(received: received))
        self.onRead = onRead
    }

    var isFull: Bool { state.withLockedValue { $0.received.map { $0.readableBytes >= Self.mostBytes } ?? false } }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

    func receive(_ bytes: ByteBuffer) {
        let reader = state.withLockedValue { state -> CheckedContinuation<ByteBuffer?, any Error>? in
            guard !state.isDiscarded else { return nil }
            if let reader = state.reader.take() { return reader }
            var bytes = bytes
            if state.received?.writeBuffer(&bytes) == nil { state.received = bytes }
            return nil
        }
        reader?.resume(returning: bytes)
    }

    /// - Parameter error: nil if the body has arrived whole.
    func finish(throwing error: (any Error)? = nil) {
        let end: Result<ByteBuffer?, any Error> = error.map { .failure($0) } ?? .success(nil)
        let reader = state.withLockedValue { state in
            state.end = state.end ?? end
            return state.reader.take()
        }
        reader?.resume(with: end)
    }

    /// Drops the unread rest.
    func discard() {
        state.withLockedValue { state in
            state.received = nil
            state.isDiscarded = true
        }
    }

    private func next() async throws -> ByteBuffer? {
        try await withCheckedThrowingContinuation { continuation in
            let (result, wasFull) = state.withLockedValue { state -> (Result<ByteBuffer?, any Error>?, Bool) in
                if let received = state.received.take() {
                    return (.success(received), received.readableBytes >= Self.mostBytes)
                }
                if state.end == nil { state.reader = continuation }
                return (state.end, false)
            }
            if let result { continuation.resume(with: result) }
            if wasFull { onRead() }
        }
    }
}
