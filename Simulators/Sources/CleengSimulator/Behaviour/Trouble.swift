/// What befalls one call.
enum Trouble: Sendable, Equatable {
    /// An answer with this status instead of the real one; nothing is processed.
    case status(Int, RetryHint?)
    /// No answer until the client goes; nothing is processed.
    case hang
    /// The connection is reset without an answer; nothing is processed.
    case reset
    /// The call is processed, then the connection is reset without an answer.
    case loseAnswer
    /// The call is processed and answered with status 200 and a body that is no JSON.
    case garbage
}

extension Trouble {
    /// Whether the call takes effect all the same.
    var processes: Bool {
        switch self {
        case .loseAnswer, .garbage: true
        case .status, .hang, .reset: false
        }
    }
}
