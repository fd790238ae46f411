import NIOConcurrencyHelpers

/// Tells a held poll that its client has left.
///
/// While nothing is held, a client that closes its sending side keeps the meaning that HTTP gives it: it still waits for its
/// answers. A client that does so while its poll is held, or did so before, is taken to have gone.
final class ConnectionWatch: Sendable {
    private struct State {
        var hasLeft = false
        var onDeparture: (@Sendable () -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    /// Calls `onDeparture` once if the client leaves before ``release()``.
    ///
    /// - Returns: false where it has left already; then nothing is called.
    func hold(_ onDeparture: @escaping @Sendable () -> Void) -> Bool {
        state.withLockedValue { state in
            guard !state.hasLeft else { return false }
            state.onDeparture = onDeparture
            return true
        }
    }

    func release() {
        state.withLockedValue { $0.onDeparture = nil }
    }

    /// - Returns: whether a poll was held, which now knows.
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
