import Foundation

/// A well-formed call of a connector's `POST …/purchases` or `POST …/purchases/transfers`.
struct SynchronizationRequest: Sendable, Equatable {
    let kind: Synchronization.Kind
    let connector: Connector
    /// For Google, the purchase token.
    let transactionId: String
    /// Google only.
    let packageName: String?
    /// The customer to whom the purchase shall belong.
    let customerId: Int
    let ipAddress: String?
    /// The caller's id for the synchronization; nil if Cleeng chooses it.
    let id: String?

    /// Reads header and body; reports all invalid fields of the body at once.
    init(
        _ kind: Synchronization.Kind, of connector: Connector, body: AnyJSON?, correlationId: String?
    ) throws(WireFault) {
        if let correlationId, UUID(uuidString: correlationId) == nil { throw .invalidCorrelationId }
        guard let body, case .object = body else { throw .invalidBody("The body is not a JSON object") }
        var wrong: [String] = []
        func text(_ field: String, _ isGood: (String) -> Bool) -> String? {
            let found = body[field]?.string.flatMap { isGood($0) ? $0 : nil }
            if found == nil { wrong.append(field) }
            return found
        }
        let transactionId: String?
        var packageName: String?
        switch connector {
        case .storekit2: transactionId = text("transactionId", TransactionIdText.isAcceptable)
        case .google:
            transactionId = text("purchaseToken", PurchaseTokenText.isAcceptable)
            packageName = text("packageName") { (1...255).contains($0.utf8.count) }
            _ = text("productType") { $0 == "subscription" }
        }
        let customerId = body["cleengCustomerId"]?.integer.flatMap { $0 > 0 ? Int($0) : nil }
        if customerId == nil { wrong.append("cleengCustomerId") }
        switch body["ipAddress"] {
        case nil, .null: ipAddress = nil
        case .string(let text) where IPAddressText.isAcceptable(text): ipAddress = text
        default:
            ipAddress = nil
            wrong.append("ipAddress")
        }
        guard let transactionId, let customerId, wrong.isEmpty else {
            throw .invalidBody("Invalid request body: \(wrong.joined(separator: ", "))", fields: wrong)
        }
        self.kind = kind
        self.connector = connector
        self.transactionId = transactionId
        self.packageName = packageName
        self.customerId = customerId
        id = correlationId
    }
}

/// Google's purchase tokens: visible ASCII.
enum PurchaseTokenText {
    static func isAcceptable(_ text: String) -> Bool {
        (1...1_024).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

extension WireFault {
    fileprivate static let invalidCorrelationId = WireFault(
        status: 400, code: "REQ0004", message: "Invalid headers: Correlation-Id is not a UUID",
        fields: ["Correlation-Id"])
}
