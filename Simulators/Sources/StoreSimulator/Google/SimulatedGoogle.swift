import Foundation
import SimulatorKit

/// Google's token endpoint and the Play Developer API, as far as purchases are asked about.
struct SimulatedGoogle: SimulatedStore {
    static let capacity = 10_000
    static let routes = ["token", "purchases"]

    var issuer: TokenIssuer
    var subscriptions: [String: GoogleSubscription] = [:]
    var products: [String: GoogleProduct] = [:]
    /// What ended too long ago to be told of.
    var gone: Set<String> = []
    /// What is answered word for word.
    var answers: [String: Data] = [:]

    init(issuer: TokenIssuer) { self.issuer = issuer }

    func route(_ call: Call) -> String? {
        if call.segments == ["token"] { return "token" }
        return call.segments.first == "androidpublisher" ? "purchases" : nil
    }

    mutating func answer(_ call: Call, at now: Date) -> StoreOutcome {
        if call.segments == ["token"] {
            guard call.method == "POST" else { return outcome(.notAllowed("POST"), call, "absent") }
            let (reply, isGood) = issuer.issue(call, at: now)
            return outcome(reply, call, isGood ? "good" : "bad")
        }
        guard let token = call.bearerToken else {
            return outcome(GoogleFault.credentials.reply, call, call.authorization == nil ? "absent" : "bad")
        }
        guard issuer.accepts(token, at: now) else { return outcome(GoogleFault.credentials.reply, call, "bad") }
        return outcome(purchase(call, at: now), call, "good")
    }

    private func purchase(_ call: Call, at now: Date) -> Reply {
        let parts = call.segments
        guard parts.count >= 7, parts[..<3] == ["androidpublisher", "v3", "applications"], parts[4] == "purchases"
        else {
            return Reply(status: 404)
        }
        guard call.method == "GET" else { return .notAllowed("GET") }
        let token = parts[parts.count - 1]
        if gone.contains(token) { return GoogleFault.gone.reply }
        if let answer = answers[token] {
            return Reply(status: 200, body: answer)
        }
        switch (parts[5], parts.count) {
        case ("subscriptionsv2", 8) where parts[6] == "tokens":
            guard let kept = subscriptions[token], kept.packageName == parts[3] else {
                return GoogleFault.unknown.reply
            }
            return Reply(json: kept.answer(at: now), dates: .text)
        case ("products", 9) where parts[7] == "tokens":
            guard let kept = products[token], kept.packageName == parts[3], kept.productId == parts[6] else {
                return GoogleFault.unknown.reply
            }
            return Reply(json: kept.answer)
        default: return Reply(status: 404)
        }
    }

    private func outcome(_ reply: Reply, _ call: Call, _ credentials: String) -> StoreOutcome {
        StoreOutcome(reply: reply, credentials: credentials, shownPath: call.path)
    }
}

/// How the API refuses, in the shape that Google's errors have.
struct GoogleFault: Sendable {
    let code: Int
    let message: String
    let reason: String
    let status: String

    var reply: Reply {
        Reply(
            status: code,
            json: Body(
                error: Body.Inner(
                    code: code, message: message, errors: [Body.Item(message: message, reason: reason)],
                    status: status)))
    }

    static let credentials = GoogleFault(
        code: 401, message: "Request had invalid authentication credentials.", reason: "authError",
        status: "UNAUTHENTICATED")
    static let unknown = GoogleFault(
        code: 404, message: "The purchase token was not found.", reason: "purchaseTokenNotFound", status: "NOT_FOUND")
    static let gone = GoogleFault(
        code: 410, message: "The purchase token is no longer valid.", reason: "purchaseTokenNoLongerValid",
        status: "FAILED_PRECONDITION")

    private struct Body: Encodable {
        struct Item: Encodable {
            let message: String
            var domain = "androidpublisher"
            let reason: String
        }

        struct Inner: Encodable {
            let code: Int
            let message: String
            let errors: [Item]
            let status: String
        }

        let error: Inner
    }
}

extension SimulatedGoogle {
    mutating func control(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        switch (segments.first, segments.count, call.method) {
        case ("tokens", 1, "DELETE"):
            issuer.revokeAll()
            return Reply(status: 204)
        case ("subscriptions", 2, "PUT"):
            return try put(segments[1], call, at: now)
        case ("subscriptions", 2, "GET"):
            guard let kept = subscriptions[segments[1]] else { throw .noSuchPurchase }
            return Reply(json: kept, dates: .text)
        case ("subscriptions", 2, "DELETE"), ("products", 2, "DELETE"):
            guard forget(segments[1]) else { throw .noSuchPurchase }
            return Reply(status: 204)
        case ("subscriptions", 3, "POST"):
            return try act(segments[1], segments[2], call, at: now)
        case ("products", 2, "PUT"):
            let told: GoogleProduct = try call.object(GoogleProduct.fields)
            try makeRoom(products.count, isNew: products[segments[1]] == nil)
            let kept = told.completed(at: now)
            products[segments[1]] = kept
            return Reply(json: kept, dates: .text)
        case ("answers", 2, "PUT"):
            guard let body = call.body else { throw .tooLarge }
            try makeRoom(answers.count, isNew: answers[segments[1]] == nil)
            answers[segments[1]] = body
            return Reply(status: 204)
        default: throw .noSuchAddress
        }
    }

    private mutating func put(_ token: String, _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        let told: GoogleSubscription = try call.object(GoogleSubscription.fields)
        try makeRoom(subscriptions.count, isNew: subscriptions[token] == nil)
        let kept = told.completed(at: now)
        subscriptions[token] = kept
        gone.remove(token)
        answers[token] = nil
        return Reply(json: kept, dates: .text)
    }

    private func makeRoom(_ count: Int, isNew: Bool) throws(ControlFault) {
        guard !isNew || count < Self.capacity else { throw .full }
    }

    private mutating func forget(_ token: String) -> Bool {
        answers[token] = nil
        let wasGone = gone.remove(token) != nil
        return subscriptions.removeValue(forKey: token) != nil || products.removeValue(forKey: token) != nil || wasGone
    }

    /// What becomes of a subscription; `until` is the end of the new period, of grace, or of a pause.
    private struct Act: Decodable {
        var until: Date?
        /// Who canceled: `user`, `system`, `developer`, `replacement`.
        var by: String?
        var survey: String?
    }

    private mutating func act(
        _ token: String, _ name: String, _ call: Call, at now: Date
    ) throws(ControlFault) -> Reply {
        guard var kept = subscriptions[token] else { throw .noSuchPurchase }
        let act: Act = try call.object(["until", "by", "survey"])
        switch name {
        case "renew":
            kept.renewals = (kept.renewals ?? 0) + 1
            kept.expiryTime = act.until ?? max(now, kept.expiryTime ?? now).addingTimeInterval(30 * 86_400)
            (kept.state, kept.autoRenewing) = ("ACTIVE", true)
            (kept.canceledBy, kept.canceledAt, kept.survey, kept.resumesAt) = (nil, nil, nil, nil)
        case "cancel": try cancel(&kept, act, "CANCELED", at: now)
        case "expire":
            try cancel(&kept, act, "EXPIRED", at: now)
            kept.expiryTime = min(kept.expiryTime ?? now, now)
        case "refund":
            try cancel(&kept, Act(by: act.by ?? "developer"), "EXPIRED", at: now)
            kept.expiryTime = now
        case "grace":
            kept.state = "IN_GRACE_PERIOD"
            kept.expiryTime = act.until ?? now.addingTimeInterval(3 * 86_400)
        case "hold":
            kept.state = "ON_HOLD"
            kept.expiryTime = min(kept.expiryTime ?? now, now)
        case "pause":
            kept.state = "PAUSED"
            kept.expiryTime = min(kept.expiryTime ?? now, now)
            kept.resumesAt = act.until ?? now.addingTimeInterval(30 * 86_400)
        case "forget":
            gone.insert(token)
            subscriptions[token] = nil
            return Reply(status: 204)
        default: throw .invalid("there is renew, cancel, expire, refund, grace, hold, pause and forget")
        }
        subscriptions[token] = kept
        return Reply(json: kept, dates: .text)
    }

    private func cancel(
        _ kept: inout GoogleSubscription, _ act: Act, _ state: String, at now: Date
    ) throws(ControlFault) {
        let kinds = [
            "user": "userInitiatedCancellation", "system": "systemInitiatedCancellation",
            "developer": "developerInitiatedCancellation", "replacement": "replacementCancellation",
        ]
        guard let kind = kinds[act.by ?? "user"] else { throw .invalid("by is user, system, developer or replacement") }
        (kept.state, kept.autoRenewing) = (state, false)
        (kept.canceledBy, kept.canceledAt, kept.survey) = (kind, now, act.survey)
    }
}
