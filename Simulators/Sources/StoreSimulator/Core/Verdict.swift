/// What is to be done about a call.
struct Verdict: Sendable, Equatable {
    enum Ending: Sendable, Equatable {
        case answer(Reply)
        /// Say nothing until the client goes.
        case hang
        /// Reset the connection.
        case reset
    }

    var delayMilliseconds: Int64 = 0
    var ending: Ending
}
