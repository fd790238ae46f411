import Crypto
import Foundation

extension Relay {
    /// Posts a purchase that must be accepted.
    ///
    /// - Returns: the validation's id.
    func pursue(_ purchase: TestPurchase) async throws -> String {
        let answer = try await self.purchase(purchase)
        guard answer.status == 202, let id = answer.json["validationId"].string else {
            throw HarnessError.failed("a purchase", ["\(answer.status) \(answer.text)"])
        }
        return id
    }

    func pursue(_ email: String, offer: String = "S123456789_US", original: String? = nil) async throws -> String {
        try await pursue(
            TestPurchase(email: email, offer: offer, original: original ?? TestPurchase.newTransactionID()))
    }

    /// Polls, held, until the validation has this status.
    func becomes(_ status: String, _ id: String) async throws -> JSON {
        try await Awaiting.fact("validation is \(status)") {
            let known = try await poll(id)
            guard known.json["status"].string != status, let tag = known.header("ETag") else { return known.json }
            let next = try await poll(id, wait: 15, headers: ["If-None-Match": tag])
            return next.status == 304 ? known.json : next.json
        } holds: {
            $0["status"].string == status
        }
    }

    /// The timeline's events of one kind.
    func timeline(_ id: String, _ event: String) async throws -> [JSON] {
        try await detail(id)["timeline"].array?.filter { $0["event"].string == event } ?? []
    }

    /// Sends an event as Cleeng does.
    ///
    /// - Parameter signature: signature to send; `nil` computes it with the secret.
    func cleengEvent(_ body: Data, secret: String, signature: String? = nil) async throws -> HTTP.Answer {
        let code = HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Data(secret.utf8)))
        return try await HTTP.post(
            url + "/cleeng/webhooks",
            headers: [
                "X-Cleeng-Signature": signature ?? code.map { String(format: "%02x", $0) }.joined(),
                "Content-Type": "application/json",
            ], body: body)
    }

    /// Waits until that many of Cleeng's events have been processed.
    func hasHandledEvents(_ count: Int) async throws {
        try await Awaiting.fact("\(count) events have been acted on") {
            try await metric("relay_cleeng_events_handled_total") ?? 0
        } holds: {
            $0 >= Double(count)
        }
    }

    /// Text of `/metrics` of the ops front.
    func metrics() async throws -> String { try await HTTP.get(opsURL + "/metrics").text }

    /// Value of a metric without labels, from `/metrics` of the ops front.
    func metric(_ name: String) async throws -> Double? {
        try await metrics().split(separator: "\n")
            .first { $0.hasPrefix("\(name) ") }
            .flatMap { Double($0.dropFirst(name.count + 1)) }
    }
}
