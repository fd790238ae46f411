import Foundation
import NIOHTTP1

/// The simulator's control API: sets behaviours and reads requests.
struct SimulatorControl: Sendable {
    let simulator: Simulator

    init(_ simulator: Simulator) {
        self.simulator = simulator
    }

    /// Sets behaviours that replace those in the email's plus tags. Counts start again.
    func behave(_ email: String, _ behaviours: String...) async throws {
        try await behave(email, behaviours)
    }

    func behave(_ email: String, _ behaviours: [String]) async throws {
        try await put("/_simulator/customers/\(email)", ["behaviours": behaviours])
    }

    /// Disturbs every call until ``heal()``.
    func trouble(_ behaviours: String...) async throws { try await trouble(behaviours) }

    func trouble(_ behaviours: [String]) async throws {
        try await put("/_simulator/upstream", ["behaviours": behaviours])
    }

    func heal() async throws {
        try await succeed(HTTP.call(.DELETE, simulator.url + "/_simulator/upstream"))
    }

    func tags(of offer: String, _ tags: [String]) async throws {
        try await put("/_simulator/offers/\(offer)", ["tags": tags])
    }

    /// Sets the target of its events.
    func tell(_ relay: Relay, secret: String) async throws {
        try await put("/_simulator/webhooks", ["url": relay.url + "/cleeng/webhooks", "secret": secret])
    }

    /// The last events that it has sent, oldest first.
    func deliveries() async throws -> [JSON] {
        try await succeed(HTTP.get(simulator.url + "/_simulator/webhooks")).json["deliveries"].array ?? []
    }

    /// Sets an entitlement at once.
    ///
    /// - Parameter original: subscription of the entitlement. A former owner loses it at the same time.
    func entitle(
        _ email: String, to offer: String, status: String, until: Date? = nil, original: String? = nil
    ) async throws {
        var object: [String: Any] = ["offerId": offer, "status": status]
        if let original { object["originalTransactionId"] = original }
        if let until { object["expiresAt"] = Int(until.timeIntervalSince1970) }
        let body = try JSONSerialization.data(withJSONObject: object)
        try await succeed(HTTP.post(simulator.url + "/_simulator/customers/\(email)/entitlements", body: body))
    }

    /// The simulator's number of the customer.
    func number(of email: String) async throws -> Int {
        let answer = try await succeed(HTTP.call(.PUT, simulator.url + "/_simulator/customers/\(email)"))
        guard let number = answer.json["customerId"].int else {
            throw HarnessError.failed("a customer of the simulator", [answer.text])
        }
        return number
    }

    func customer(_ email: String) async throws -> JSON {
        try await succeed(HTTP.get(simulator.url + "/_simulator/customers/\(email)")).json
    }

    func stats() async throws -> JSON {
        try await succeed(HTTP.get(simulator.url + "/_simulator/stats")).json
    }

    /// Present owner and history of a subscription.
    func subscription(_ original: String) async throws -> JSON {
        let url = simulator.url + "/_simulator/subscriptions?originalTransactionId=\(original)"
        return try await succeed(HTTP.get(url)).json["items"][0]
    }

    /// All requests, in order of arrival.
    func requests() async throws -> [SentRequest] { try await sent(path: "/", email: nil) }

    /// Owner and history of every known subscription.
    func subscriptions() async throws -> [JSON] {
        try await succeed(HTTP.get(simulator.url + "/_simulator/subscriptions?limit=100000")).json["items"].array ?? []
    }

    /// Forwards, including refused ones, in order of arrival.
    func payments(of email: String? = nil) async throws -> [SentRequest] {
        try await sent(path: "/apple/payment", email: email)
    }

    /// StoreKit 2 requests in order: registrations, transfers, and reads of synchronizations.
    func storeKit2() async throws -> [SentRequest] { try await sent(path: "/storekit2/", email: nil) }

    /// Requests to the Google Play connector, in order.
    func connector() async throws -> [SentRequest] { try await sent(path: "/google/", email: nil) }

    /// Purchases at Google Play that were sent as a receipt.
    func android() async throws -> [SentRequest] { try await sent(path: "/android/payment", email: nil) }

    /// Registers a purchase at Google Play without the relay, and waits until it is finalized.
    func register(_ token: String, for number: Int) async throws {
        let body: [String: Any] = [
            "purchaseToken": token, "packageName": "com.example.app", "productType": "subscription",
            "cleengCustomerId": number,
        ]
        let answer = try await HTTP.post(
            simulator.url + "/google/purchases", headers: ["X-Publisher-Token": Simulator.token],
            body: try JSONSerialization.data(withJSONObject: body))
        guard answer.status == 202 else { throw HarnessError.failed("a registration", [answer.text]) }
        try await Awaiting.fact("it is finalized", is: 0) { try await stats()["synchronizationsRunning"].int }
    }

    /// Entitlement reads of a customer, in order.
    func reads(of email: String) async throws -> [SentRequest] {
        try await sent(path: "/3.1/entitlements", email: email)
    }

    private func sent(path: String, email: String?) async throws -> [SentRequest] {
        var parts = URLComponents(string: simulator.url + "/_simulator/requests")
        parts?.queryItems = [URLQueryItem(name: "path", value: path)]
        if let email { parts?.queryItems?.append(URLQueryItem(name: "customerEmail", value: email)) }
        // In a query a bare plus sign means a space.
        let query = parts?.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
        parts?.percentEncodedQuery = query
        let answer = try await succeed(HTTP.get(parts?.string ?? ""))
        return try (answer.json["items"].array ?? []).map(SentRequest.init)
    }

    private func put(_ path: String, _ object: [String: Any]) async throws {
        let body = try JSONSerialization.data(withJSONObject: object)
        try await succeed(HTTP.call(.PUT, simulator.url + path, body: body))
    }

    @discardableResult
    private func succeed(_ answer: HTTP.Answer) throws -> HTTP.Answer {
        guard answer.status == 200 else { throw HarnessError.failed("the simulator's control API", [answer.text]) }
        return answer
    }
}
