import Foundation
import SimulatorKit

/// Roku Pay's transaction service, limited to reading transactions, with notifications about them.
struct SimulatedRoku: SimulatedStore {
    static let capacity = 10_000
    static let routes = ["transactions", "keys"]

    let apiKey: String
    /// Subscriptions by the original transaction's id.
    var subscriptions: [String: RokuSubscription] = [:]
    /// The original transaction of each later one.
    var originals: [String: String] = [:]
    /// Transactions that are no longer known.
    var gone: Set<String> = []
    /// Fixed answers by transaction.
    var answers: [String: Data] = [:]

    var push: SimulatedRokuPush

    init(apiKey: String, push: SimulatedRokuPush) {
        self.apiKey = apiKey
        self.push = push
    }

    func route(_ call: Call) -> String? {
        if call.segments == Self.keys { return "keys" }
        return Address(call.segments) == nil ? nil : "transactions"
    }

    private static let keys = ["keys", "partner-jwks.json"]

    mutating func answer(_ call: Call, at now: Date) -> StoreOutcome {
        if call.segments == Self.keys {
            return StoreOutcome(reply: keySet(call), credentials: "absent", shownPath: call.path)
        }
        guard let address = Address(call.segments) else {
            return StoreOutcome(reply: Reply(status: 404), credentials: "absent", shownPath: call.path)
        }
        let isGood = address.apiKey == apiKey
        return StoreOutcome(
            reply: reply(address, isGood, call, at: now), credentials: isGood ? "good" : "bad",
            shownPath: "/listen/transaction-service.svc/validate-transaction/[key]/\(address.transaction)")
    }

    /// The keys that sign notifications.
    private func keySet(_ call: Call) -> Reply {
        guard call.method == "GET" else { return .notAllowed("GET") }
        guard let keys = try? push.key.set() else { return Reply(status: 500) }
        return Reply(json: keys)
    }

    private func reply(_ address: Address, _ isGood: Bool, _ call: Call, at now: Date) -> Reply {
        guard call.method == "GET" else { return .notAllowed("GET") }
        // Roku refuses with status 200.
        guard isGood else { return Self.fault("UNAUTHORIZED") }
        let id = address.transaction
        if let answer = answers[id] { return Reply(status: 200, body: answer) }
        let original = originals[id] ?? id
        guard !gone.contains(original), let kept = subscriptions[original] else {
            return Self.fault("Transaction not found.")
        }
        return Reply(json: kept.answer(original, at: now))
    }

    private static func fault(_ message: String) -> Reply { Reply(json: Fault(errorMessage: message)) }

    private struct Fault: Encodable {
        var errorCode = RokuNullable<String>(nil)
        var errorDetails = RokuNullable<String>(nil)
        let errorMessage: String
        var status = 1
    }

    /// `/listen/transaction-service.svc/validate-transaction/{apiKey}/{transactionId}`
    private struct Address {
        let apiKey: String
        let transaction: String

        init?(_ segments: [String]) {
            guard segments.count == 5,
                segments[..<3] == ["listen", "transaction-service.svc", "validate-transaction"]
            else { return nil }
            (apiKey, transaction) = (segments[3], segments[4])
        }
    }
}
