/// A well-formed body of `POST /apple/payment`.
struct Payment: Sendable, Equatable {
    let email: CustomerEmail
    let offerId: OfferId
    let transactionId: String
    let receipt: ReceiptSummary
    /// `ios` or `tvos`.
    let appType: String
    let ipAddress: String?
    let couponCode: String?

    /// What tells subscriptions apart: the receipt's original transaction id, else what the caller said.
    var subscription: String { receipt.originalTransactionId ?? transactionId }

    /// Reads a body and names every wrong field at once.
    ///
    /// Cleeng publishes no error table for this endpoint; status and code are those of its siblings.
    init(body: JSONValue?, identity: ReceiptIdentity) throws(WireFault) {
        guard let body, case .object = body else { throw .invalidBody("The body is not a JSON object") }
        var wrong: [String] = []
        func check<T>(_ field: String, _ value: T?) -> T? {
            if value == nil { wrong.append(field) }
            return value
        }
        let email = check("customerEmail", body["customerEmail"]?.string.flatMap { CustomerEmail($0) })
        let offerId = check("offerId", body["offerId"]?.string.flatMap { OfferId($0) })
        let receipt = body["receipt"]
        let transactionId = check(
            "receipt.transactionId",
            receipt?["transactionId"]?.string.flatMap { TransactionIdText.isAcceptable($0) ? $0 : nil })
        let receiptData = check(
            "receipt.receiptData", receipt?["receiptData"]?.string.flatMap { $0.isEmpty ? nil : $0 })
        let appType = check("appType", Self.optional(body["appType"], "ios") { ["ios", "tvos"].contains($0) })
        let ipAddress = check("ipAddress", Self.optional(body["ipAddress"], "", IPAddressText.isAcceptable))
        let couponCode = check("couponCode", Self.optional(body["couponCode"], "") { _ in true })
        guard let email, let offerId, let transactionId, let receiptData, let appType, let ipAddress, let couponCode
        else { throw .invalidBody("Invalid request body: \(wrong.joined(separator: ", "))", fields: wrong) }
        self.email = email
        self.offerId = offerId
        self.transactionId = transactionId
        self.receipt = ReceiptSummary(
            receiptData: receiptData, originalTransactionId: identity.read(receiptData, transactionId))
        self.appType = appType
        self.ipAddress = ipAddress.isEmpty ? nil : ipAddress
        self.couponCode = couponCode.isEmpty ? nil : couponCode
    }

    /// - Returns: the default where the field is missing or null, nil where it is wrong.
    private static func optional(_ value: JSONValue?, _ standard: String, _ isValid: (String) -> Bool) -> String? {
        guard let value, !value.isNull else { return standard }
        return value.string.flatMap { isValid($0) ? $0 : nil }
    }
}
