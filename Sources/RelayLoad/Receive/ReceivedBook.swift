import NIOConcurrencyHelpers

/// A message that came to one of the endpoints.
struct ReceivedMessage: Encodable, Sendable {
    /// The port that it came to.
    var port: Int
    var id: String
    var customer: String
    /// When its last byte was here: microseconds since 1970.
    var at: Int64
}

/// What came to all endpoints since it was asked for last.
final class ReceivedBook: Sendable {
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

    /// - Returns: the messages, and the body of the last one; nil where none came.
    func take() -> (messages: [ReceivedMessage], last: String?) {
        state.withLockedValue { state in
            defer { state = State() }
            return (state.messages, state.last)
        }
    }
}
