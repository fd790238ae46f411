import NIOConcurrencyHelpers
package import NIOCore

/// Notifies a held poll that its client has left.
///
/// A client that closes its sending side counts as gone only for a poll that is held then or later. For other requests
/// a half-closed connection has its HTTP meaning: the client still waits for answers.
package final class ConnectionWatch: Sendable {
    private struct State {
        var hasLeft = false
        var onDeparture: (@Sendable () -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    /// The watch of a connection.
    ///
    /// - Throws: ``ClientGone`` if the connection is closed.
    package static func of(_ channel: any Channel) async throws(ClientGone) -> ConnectionWatch {
        do {
            return try await channel.eventLoop.submit {
                try channel.pipeline.syncOperations.handler(type: ConnectionHandler.self).watch
            }.get()
        } catch {
            // Its pipeline is gone.
            throw ClientGone()
        }
    }

    /// Calls `onDeparture` once if the client leaves before ``release()``.
    ///
    /// - Returns: false if the client has left already; then `onDeparture` is not called.
    package func hold(_ onDeparture: @escaping @Sendable () -> Void) -> Bool {
        state.withLockedValue { state in
            guard !state.hasLeft else { return false }
            state.onDeparture = onDeparture
            return true
        }
    }

    package func release() {
        state.withLockedValue { $0.onDeparture = nil }
    }

    /// - Returns: whether a poll was held, which is now notified.
    func clientLeft() -> Bool {
        let onDeparture = state.withLockedValue { state in
            state.hasLeft = true
            defer { state.onDeparture = nil }
            return state.onDeparture
        }
        onDeparture?()
        return onDeparture != nil
    }
}

/// The client left while its poll was held, so no answer is sent.
package struct ClientGone: Error {
    package init() {}
}
