import Foundation

/// Amazon's Receipt Verification Service, version 1.0.
struct SimulatedAmazon: SimulatedStore {
    static let capacity = 10_000
    static let routes = ["receipts"]

    let secret: String
    var purchases: [String: AmazonPurchase] = [:]
    /// What is no longer valid.
    var gone: Set<String> = []
    /// What is answered word for word.
    var answers: [String: Data] = [:]

    init(secret: String) { self.secret = secret }

    func route(_ call: StoreCall) -> String? { Address(call.segments) == nil ? nil : "receipts" }

    mutating func answer(_ call: StoreCall, at now: Date) -> StoreOutcome {
        guard let address = Address(call.segments) else {
            return StoreOutcome(reply: Reply(status: 404), credentials: "absent", shownPath: call.path)
        }
        let isGood = address.isSandbox || address.secret == secret
        let shown =
            (address.isSandbox ? "/sandbox" : "")
            + "/version/1.0/verifyReceiptId/developer/[secret]/user/\(address.user)/receiptId/\(address.receipt)"
        return StoreOutcome(
            reply: reply(address, isGood, call), credentials: isGood ? "good" : "bad", shownPath: shown)
    }

    private func reply(_ address: Address, _ isGood: Bool, _ call: StoreCall) -> Reply {
        guard call.method == "GET" else { return .notAllowed("GET") }
        guard isGood else { return Self.fault(496, "Invalid sharedSecret") }
        if gone.contains(address.receipt) { return Self.fault(410, "The transaction is no longer valid") }
        if let answer = answers[address.receipt] {
            var reply = Reply(status: 200)
            reply.body = answer
            return reply
        }
        guard let kept = purchases[address.receipt] else { return Self.fault(400, "Invalid receiptId") }
        guard kept.userId == address.user else { return Self.fault(497, "Invalid User ID") }
        return Reply(json: kept.answer(address.receipt))
    }

    private static func fault(_ status: Int, _ message: String) -> Reply {
        Reply(status: status, json: ["message": message])
    }

    /// `[/sandbox]/version/1.0/verifyReceiptId/developer/{secret}/user/{user}/receiptId/{receipt}`
    private struct Address {
        let isSandbox: Bool
        let secret: String
        let user: String
        let receipt: String

        init?(_ segments: [String]) {
            isSandbox = segments.first == "sandbox"
            let parts = Array(isSandbox ? segments.dropFirst() : segments[...])
            guard parts.count == 9, parts[..<4] == ["version", "1.0", "verifyReceiptId", "developer"],
                parts[5] == "user", parts[7] == "receiptId"
            else { return nil }
            (secret, user, receipt) = (parts[4], parts[6], parts[8])
        }
    }
}
