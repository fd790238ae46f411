/// What is to be done about a request.
struct Verdict: Sendable {
    enum Ending: Sendable {
        case answer(Reply)
        /// Say nothing until the client goes.
        case hang
        /// Reset the connection; `processed` where the call took effect nevertheless.
        case reset(processed: Bool)
    }

    /// A verdict from before a reset means nothing after it.
    let generation: Int
    /// The request's number in the log, for ``SimulatedCleeng/end(_:outcome:status:at:)``.
    let sequence: Int
    let kind: CleengCall.Kind
    let forward: Forward?
    /// To be waited before the ending.
    let delayMilliseconds: Int64
    let ending: Ending
}
