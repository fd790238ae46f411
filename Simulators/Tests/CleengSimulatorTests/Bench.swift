import Foundation
import HTTPTypes
import Testing

@testable import CleengSimulator
@testable import SimulatorKit

/// The simulator as its HTTP side sees it, without HTTP: requests go in as bytes, answers come out as JSON.
struct Bench {
    static let token = "pub_tok_simulated"

    let time = ManualTime()
    let simulator: Simulator

    /// - Parameter identity: by default a receipt named `sub-7-…` belongs to the subscription `7`.
    init(_ change: (inout SimulatorSettings) -> Void = { _ in }, identity: ReceiptIdentity = .named) {
        var settings = SimulatorSettings()
        change(&settings)
        simulator = Simulator(
            settings: settings, publisherToken: Self.token, clock: time.clock, identity: identity)
    }

    func begin(
        _ method: String, _ target: String, body: String = "", token: String? = Bench.token,
        correlationId: String? = nil,
        startedAt: SimulatedTime? = nil
    ) -> Verdict<CallTicket> {
        var headers: HTTPFields = [:]
        headers[.publisherToken] = token
        headers[.correlationId] = correlationId
        return simulator.begin(request(method, target, headers, body, startedAt: startedAt))
    }

    private func request(
        _ method: String, _ target: String, _ headers: HTTPFields, _ body: String, startedAt: SimulatedTime? = nil
    ) -> Call {
        let parts = target.split(separator: "?", maxSplits: 1)
        return Call(
            method: method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil, headers: headers,
            body: Data(body.utf8), startedAt: (startedAt ?? time.now).date)
    }

    @discardableResult
    func send(
        _ method: String, _ target: String, body: String = "", token: String? = Bench.token,
        correlationId: String? = nil
    ) -> Outcome {
        let verdict = begin(method, target, body: body, token: token, correlationId: correlationId)
        let outcome = Outcome(verdict)
        simulator.end(verdict, outcome: outcome.logged, status: outcome.status)
        return outcome
    }

    @discardableResult
    func pay(
        _ email: String, _ transaction: String = "1001", offer: String = "S123456789_US", receipt: String = "TUlJ"
    ) -> Outcome {
        send("POST", "/apple/payment", body: Self.payment(email, transaction, offer: offer, receipt: receipt))
    }

    /// What is listed for an email: `["S123456789_US active"]`.
    func entitlements(_ email: String, _ more: String = "") throws -> [String] {
        let outcome = read(email, more)
        let items = try #require(outcome.json?["items"])
        guard case .array(let elements) = items else { return [] }
        return elements.map { "\($0["offerId"]?.string ?? "?") \($0["status"]?.string ?? "?")" }
    }

    @discardableResult
    func read(_ email: String, _ more: String = "") -> Outcome {
        let encoded = email.split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%2B")
        return send("GET", "/3.1/entitlements?customerEmail=\(encoded)&offset=0&limit=100\(more)")
    }

    @discardableResult
    func call(_ method: String, _ params: String, id: String = "1") -> AnyJSON? {
        send(
            "POST", "/3.0/json-rpc",
            body: #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#, token: nil
        ).json
    }

    @discardableResult
    func control(_ method: String, _ target: String, _ body: String = "") throws -> AnyJSON {
        try #require(try simulator.carryOut(request(method, target, [:], body)).body.flatMap { AnyJSON.parse($0) })
    }

    static func payment(
        _ email: String, _ transaction: String = "1001", offer: String = "S123456789_US", receipt: String = "TUlJ"
    ) -> String {
        """
        {"customerEmail":"\(email)","offerId":"\(offer)",\
        "receipt":{"transactionId":"\(transaction)","receiptData":"\(receipt)"}}
        """
    }
}

extension ReceiptIdentity {
    /// Reads made-up receipts: `sub-7-first` belongs to `7`, anything else cannot be read.
    static let named = ReceiptIdentity { receipt, _ in
        let parts = receipt.split(separator: "-")
        return parts.count > 1 && parts[0] == "sub" ? String(parts[1]) : nil
    }
}
