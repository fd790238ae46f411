import Foundation

/// Google's token endpoint and the Play Developer API, as far as purchases are asked about.
struct SimulatedGoogle: SimulatedStore {
    static let capacity = 10_000
    static let routes = ["token", "purchases"]

    var office: TokenOffice
    var subscriptions: [String: GoogleSubscription] = [:]
    var products: [String: GoogleProduct] = [:]
    /// What ended too long ago to be told of.
    var gone: Set<String> = []
    /// What is answered word for word.
    var answers: [String: Data] = [:]

    init(office: TokenOffice) { self.office = office }

    func route(_ call: StoreCall) -> String? {
        if call.segments == ["token"] { return "token" }
        return call.segments.first == "androidpublisher" ? "purchases" : nil
    }

    mutating func answer(_ call: StoreCall, at now: Date) -> StoreOutcome {
        if call.segments == ["token"] {
            guard call.method == "POST" else { return outcome(.notAllowed("POST"), call, "absent") }
            let (reply, isGood) = office.give(call, at: now)
            return outcome(reply, call, isGood ? "good" : "bad")
        }
        guard let token = call.authorization.flatMap(Self.bearer) else {
            return outcome(GoogleFault.credentials.reply, call, call.authorization == nil ? "absent" : "bad")
        }
        guard office.knows(token, at: now) else { return outcome(GoogleFault.credentials.reply, call, "bad") }
        return outcome(purchase(call, at: now), call, "good")
    }

    private func purchase(_ call: StoreCall, at now: Date) -> Reply {
        let parts = call.segments
        guard parts.count >= 7, parts[..<3] == ["androidpublisher", "v3", "applications"], parts[4] == "purchases"
        else {
            return Reply(status: 404)
        }
        guard call.method == "GET" else { return .notAllowed("GET") }
        let token = parts[parts.count - 1]
        if gone.contains(token) { return GoogleFault.gone.reply }
        if let answer = answers[token] {
            var reply = Reply(status: 200)
            reply.body = answer
            return reply
        }
        switch (parts[5], parts.count) {
        case ("subscriptionsv2", 8) where parts[6] == "tokens":
            guard let kept = subscriptions[token], kept.packageName == parts[3] else {
                return GoogleFault.unknown.reply
            }
            return Reply(json: kept.answer(at: now))
        case ("products", 9) where parts[7] == "tokens":
            guard let kept = products[token], kept.packageName == parts[3], kept.productId == parts[6] else {
                return GoogleFault.unknown.reply
            }
            return Reply(json: kept.answer)
        default: return Reply(status: 404)
        }
    }

    private func outcome(_ reply: Reply, _ call: StoreCall, _ credentials: String) -> StoreOutcome {
        StoreOutcome(reply: reply, credentials: credentials, shownPath: call.path)
    }

    /// What stands behind `Bearer`.
    private static func bearer(_ authorization: String) -> String? {
        let words = authorization.split(separator: " ", omittingEmptySubsequences: false)
        return words.count == 2 && words[0].lowercased() == "bearer" ? String(words[1]) : nil
    }
}
