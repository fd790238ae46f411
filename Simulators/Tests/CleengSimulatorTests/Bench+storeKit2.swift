import Testing

@testable import CleengSimulator

extension Bench {
    static let purchases = "/storekit2/purchases"
    static let transfers = "/storekit2/purchases/transfers"

    /// Makes a customer known, and tells the number.
    func number(of email: String) throws -> Int64 {
        try #require(try control("PUT", "/_simulator/customers/\(email)")["customerId"]?.integer)
    }

    @discardableResult
    func register(_ transaction: String = "1001", for customer: Int64, correlationId: String? = nil) -> Outcome {
        send("POST", Self.purchases, body: Self.purchase(transaction, customer), correlationId: correlationId)
    }

    @discardableResult
    func move(_ transaction: String = "1001", to customer: Int64, correlationId: String? = nil) -> Outcome {
        send("POST", Self.transfers, body: Self.purchase(transaction, customer), correlationId: correlationId)
    }

    func tell(_ transaction: String, _ fields: String) throws {
        try control("PUT", "/_simulator/transactions/\(transaction)", fields)
    }

    static let googlePurchases = "/google/purchases"

    /// By the Google Play connector.
    @discardableResult
    func registerToken(_ token: String = "t-1", for customer: Int64, correlationId: String? = nil) -> Outcome {
        send("POST", Self.googlePurchases, body: Self.tokenPurchase(token, customer), correlationId: correlationId)
    }

    @discardableResult
    func moveToken(_ token: String = "t-1", to customer: Int64) -> Outcome {
        send("POST", Self.googlePurchases + "/transfers", body: Self.tokenPurchase(token, customer))
    }

    static func tokenPurchase(_ token: String, _ customer: Int64, type: String = "subscription") -> String {
        #"{"purchaseToken":"\#(token)","packageName":"tv.app","productType":"\#(type)","cleengCustomerId":\#(customer)}"#
    }

    /// `processing`, or `PURCHASE_REGISTERED true S123456789_US`.
    func state(_ started: Outcome) -> String { state(started, of: .storekit2) }

    func state(_ started: Outcome, of connector: Connector) -> String {
        guard let id = started.json?["synchronizationId"]?.string else { return "not started: \(started.text)" }
        let json = send("GET", "/\(connector.rawValue)/purchases/synchronizations/\(id)").json
        guard json?["status"] == .string("finalized") else { return json?["status"]?.string ?? "no status" }
        let access = json?["accessGranted"].map { $0 == .bool(true) ? "true" : "false" } ?? "?"
        return "\(json?["result"]?.string ?? "?") \(access) \(json?["offerId"]?.string ?? "?")"
    }

    /// The code of a refusal.
    static func code(_ outcome: Outcome) -> String { "\(outcome.text) \(outcome.json?["code"]?.string ?? "no code")" }

    static func purchase(_ transaction: String, _ customer: Int64, _ more: String = "") -> String {
        #"{"transactionId":"\#(transaction)","cleengCustomerId":\#(customer)\#(more)}"#
    }
}
