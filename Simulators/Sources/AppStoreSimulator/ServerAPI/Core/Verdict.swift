/// What is to be done about a call.
enum Verdict: Sendable, Equatable {
    case answer(Reply)
    /// Say nothing until the client goes.
    case hang
    /// Reset the connection.
    case reset
}
