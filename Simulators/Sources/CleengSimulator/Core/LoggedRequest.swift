/// One request as the simulator received it. Holds no token and no receipt.
struct LoggedRequest: Sendable {
    enum Outcome: String, Sendable {
        case inFlight = "in-flight"
        case answered
        case hung
        case reset
        case lostAnswer = "lost-answer"
        case clientLeft = "client-left"
    }

    var sequence = 0
    let method: String
    let path: String
    let query: [NamedValue]
    let headers: [NamedValue]
    let token: TokenPresence
    let body: JSONValue?
    let bodyBytes: Int
    /// nil for everything but notifications.
    let bodyDigest: String?
    /// nil for everything but well-formed notifications.
    let notice: StoreNotice?
    let customerEmail: CustomerEmail?
    let startedAt: Moment
    var endedAt: Moment?
    var status: Int?
    var outcome = Outcome.inFlight
    /// nil for everything that passes on no purchase.
    var overlapped: Bool?
    let forward: Forward?
}
