import Foundation
import SimulatorKit

/// Google's token endpoint, and the part of the Play Developer API that reads, acknowledges and lists purchases.
struct SimulatedGoogle: SimulatedStore {
    static let capacity = 10_000
    static let routes = ["token", "purchases", "acknowledge", "voided", "certs"]

    var issuer: TokenIssuer
    var subscriptions: [String: GoogleSubscription] = [:]
    var products: [String: GoogleProduct] = [:]
    var voided = VoidedPurchases()
    /// Subscriptions that ended too long ago to be returned.
    var gone: Set<String> = []
    /// Fixed answers by token.
    var answers: [String: Data] = [:]

    var pubSub: SimulatedPubSub

    init(issuer: TokenIssuer, pubSub: SimulatedPubSub) {
        self.issuer = issuer
        self.pubSub = pubSub
    }

    func route(_ call: Call) -> String? {
        if call.segments == ["token"] { return "token" }
        if call.segments == Self.certs { return "certs" }
        guard call.segments.first == "androidpublisher" else { return nil }
        switch GoogleAddress(call.segments)?.target {
        case .acknowledgement: return "acknowledge"
        case .voided: return "voided"
        case .subscription, .product, nil: return "purchases"
        }
    }

    mutating func answer(_ call: Call, at now: Date) -> StoreOutcome {
        if call.segments == ["token"] {
            guard call.method == "POST" else { return outcome(.notAllowed("POST"), call, "absent") }
            let (reply, isGood) = issuer.issue(call, at: now)
            return outcome(reply, call, isGood ? "good" : "bad")
        }
        if call.segments == Self.certs { return outcome(keySet(call), call, "absent") }
        guard let token = call.bearerToken else {
            return outcome(GoogleFault.credentials.reply, call, call.authorization == nil ? "absent" : "bad")
        }
        guard issuer.accepts(token, at: now) else { return outcome(GoogleFault.credentials.reply, call, "bad") }
        do throws(GoogleFault) {
            return outcome(try publisher(call, at: now), call, "good")
        } catch {
            return outcome(error.reply, call, "good")
        }
    }

    private static let certs = ["oauth2", "v3", "certs"]

    /// The keys that sign push tokens.
    private func keySet(_ call: Call) -> Reply {
        guard call.method == "GET" else { return .notAllowed("GET") }
        guard let keys = try? pubSub.key.set() else { return Reply(status: 500) }
        // The same lifetime as Google's.
        return Reply(json: keys).with(
            header: "Cache-Control", "public, max-age=20000, must-revalidate, no-transform")
    }

    private mutating func publisher(_ call: Call, at now: Date) throws(GoogleFault) -> Reply {
        guard let address = GoogleAddress(call.segments) else { return Reply(status: 404) }
        guard call.method == address.method else { return .notAllowed(address.method) }
        switch address.target {
        case .voided: return try voided.page(of: address.package, FormItems(call.query), at: now)
        case .subscription(let token):
            if let answer = try setAnswer(for: token) { return answer }
            guard let kept = subscriptions[token], kept.packageName == address.package else { throw .unknown }
            return Reply(json: kept.answer(at: now), dates: .text)
        case .product(let product, let token):
            if let answer = try setAnswer(for: token) { return answer }
            guard let kept = products[token], kept.packageName == address.package, kept.productId == product else {
                throw .unknown
            }
            return Reply(json: kept.answer)
        case .acknowledgement(let type, let product, let token):
            return try acknowledge(type, product, token, of: address.package, call, at: now)
        }
    }

    /// The fixed answer for a token.
    private func setAnswer(for token: String) throws(GoogleFault) -> Reply? {
        guard !gone.contains(token) else { throw .gone }
        return answers[token].map { Reply(status: 200, body: $0) }
    }

    private func outcome(_ reply: Reply, _ call: Call, _ credentials: String) -> StoreOutcome {
        StoreOutcome(reply: reply, credentials: credentials, shownPath: call.path)
    }
}
