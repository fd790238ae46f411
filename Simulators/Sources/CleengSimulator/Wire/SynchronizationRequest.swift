import Foundation

/// A well-formed call of `POST /storekit2/purchases` or `POST /storekit2/purchases/transfers`.
struct SynchronizationRequest: Sendable, Equatable {
    let kind: Synchronization.Kind
    let transactionId: String
    /// To whom the purchase is to belong.
    let customerId: Int
    let ipAddress: String?
    /// What the caller calls the synchronization; nil where that is left to Cleeng.
    let id: String?

    /// Reads header and body; of the body it names every wrong field at once.
    init(_ kind: Synchronization.Kind, body: JSONValue?, correlationId: String?) throws(WireFault) {
        if let correlationId, UUID(uuidString: correlationId) == nil { throw .invalidCorrelationId }
        guard let body, case .object = body else { throw .invalidBody("The body is not a JSON object") }
        var wrong: [String] = []
        let transactionId = body["transactionId"]?.string.flatMap { TransactionIdText.isAcceptable($0) ? $0 : nil }
        if transactionId == nil { wrong.append("transactionId") }
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
        self.transactionId = transactionId
        self.customerId = customerId
        id = correlationId
    }
}

extension WireFault {
    fileprivate static let invalidCorrelationId = WireFault(
        status: 400, code: "REQ0004", message: "Invalid headers: Correlation-Id is not a UUID",
        fields: ["Correlation-Id"])
}
