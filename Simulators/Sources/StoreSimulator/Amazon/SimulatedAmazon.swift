import Foundation
import SimulatorKit

/// Amazon's Receipt Verification Service, version 1.0, with the notifications about its purchases.
struct SimulatedAmazon: SimulatedStore {
    static let capacity = 10_000
    static let routes = ["receipts", "certificate", "confirm"]

    let secret: String
    var purchases: [String: AmazonPurchase] = [:]
    /// Receipts that are no longer valid.
    var gone: Set<String> = []
    /// Fixed answers by receipt.
    var answers: [String: Data] = [:]

    var sns: SimulatedSNS

    init(secret: String, sns: SimulatedSNS) {
        self.secret = secret
        self.sns = sns
    }

    func route(_ call: Call) -> String? {
        switch call.segments {
        case Self.certificate: "certificate"
        case Self.confirmation: "confirm"
        default: Address(call.segments) == nil ? nil : "receipts"
        }
    }

    private static let certificate = ["sns", "certificate.pem"]
    private static let confirmation = ["sns", "confirm"]

    mutating func answer(_ call: Call, at now: Date) -> StoreOutcome {
        guard let address = Address(call.segments) else {
            let reply =
                switch call.segments {
                case Self.certificate: certificate(call)
                case Self.confirmation: sns.confirm(call)
                default: Reply(status: 404)
                }
            return StoreOutcome(reply: reply, credentials: "absent", shownPath: call.path)
        }
        let isGood = address.isSandbox || address.secret == secret
        let shown =
            (address.isSandbox ? "/sandbox" : "")
            + "/version/1.0/verifyReceiptId/developer/[secret]/user/\(address.user)/receiptId/\(address.receipt)"
        return StoreOutcome(
            reply: reply(address, isGood, call), credentials: isGood ? "good" : "bad", shownPath: shown)
    }

    /// The certificate for ``sns``'s messages.
    private func certificate(_ call: Call) -> Reply {
        guard call.method == "GET" else { return .notAllowed("GET") }
        guard let certificate = try? sns.key.certificate else { return Reply(status: 500) }
        var reply = Reply(status: 200, body: Data(certificate.utf8))
        reply.contentType = "application/x-pem-file"
        return reply
    }

    private func reply(_ address: Address, _ isGood: Bool, _ call: Call) -> Reply {
        guard call.method == "GET" else { return .notAllowed("GET") }
        guard isGood else { return Self.fault(496, "Invalid sharedSecret") }
        if gone.contains(address.receipt) { return Self.fault(410, "The transaction is no longer valid") }
        if let answer = answers[address.receipt] {
            return Reply(status: 200, body: answer)
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

extension SimulatedAmazon {
    mutating func control(_ segments: [String], _ call: Call, at now: Date) throws(ControlFault) -> Reply {
        switch (segments.first, segments.count, call.method) {
        case ("subscriptions", 2, "PUT"):
            let input: AmazonPurchase = try call.object(AmazonPurchase.fields)
            let isNew = purchases[segments[1]] == nil
            guard !isNew || purchases.count < Self.capacity else { throw .full }
            let kept = input.completed(at: now)
            purchases[segments[1]] = kept
            gone.remove(segments[1])
            answers[segments[1]] = nil
            if isNew {
                sns.publish(PurchaseNotification(kept.purchaseType, of: kept, segments[1], at: now), at: now)
            }
            return Reply(json: kept, dates: .text)
        case ("subscriptions", 2, "GET"):
            guard let kept = purchases[segments[1]] else { throw .noSuchPurchase }
            return Reply(json: kept, dates: .text)
        case ("subscriptions", 2, "DELETE"):
            answers[segments[1]] = nil
            let wasGone = gone.remove(segments[1]) != nil
            guard purchases.removeValue(forKey: segments[1]) != nil || wasGone else { throw .noSuchPurchase }
            return Reply(status: 204)
        case ("subscriptions", 3, "POST"):
            return try act(segments[1], segments[2], call, at: now)
        case ("answers", 2, "PUT"):
            guard let body = call.body else { throw .tooLarge }
            guard answers[segments[1]] != nil || answers.count < Self.capacity else { throw .full }
            answers[segments[1]] = body
            return Reply(status: 204)
        case (let part?, _, _) where SimulatedSNS.controls.contains(part):
            return try sns.control(segments, call, at: now)
        default: throw .noSuchAddress
        }
    }

    /// `until` is the end of the new period, or of grace.
    private struct Act: Decodable {
        var until: Date?
        /// Amazon's number.
        var reason: Int?
    }

    private mutating func act(
        _ receipt: String, _ name: String, _ call: Call, at now: Date
    ) throws(ControlFault) -> Reply {
        guard var kept = purchases[receipt] else { throw .noSuchPurchase }
        let act: Act = try call.object(["until", "reason"])
        let type = kept.notificationType(of: name)
        switch name {
        case "renew":
            kept.renewalDate = act.until ?? max(now, kept.renewalDate ?? now).addingTimeInterval(30 * 86_400)
            kept.autoRenewing = true
            (kept.cancelDate, kept.cancelReason, kept.gracePeriodEndDate) = (nil, nil, nil)
        // Until the end, Amazon reports only that it will not renew.
        case "cancel": kept.autoRenewing = false
        case "expire", "refund":
            (kept.autoRenewing, kept.cancelDate) = (false, now)
            kept.cancelReason = act.reason ?? 1
        case "grace":
            kept.renewalDate = min(kept.renewalDate ?? now, now)
            kept.gracePeriodEndDate = act.until ?? now.addingTimeInterval(3 * 86_400)
        case "forget":
            gone.insert(receipt)
            purchases[receipt] = nil
            return Reply(status: 204)
        // Amazon has neither state.
        case "hold", "pause": throw .invalid("the Amazon Appstore knows no \(name)")
        default: throw .invalid("there is renew, cancel, expire, refund, grace and forget")
        }
        purchases[receipt] = kept
        if let type { sns.publish(PurchaseNotification(type, of: kept, receipt, at: now), at: now) }
        return Reply(json: kept, dates: .text)
    }
}
