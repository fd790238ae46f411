import NIOCore

/// The body of `POST /apple/payment` as it stands: read, not yet judged. Unknown fields are passed over.
struct PaymentBody: Sendable {
    /// What `receipt` is.
    enum Receipt: Sendable, Equatable {
        case absent
        case object
        case other(JSONKind)
    }

    var customerEmail = JSONField.absent
    var offerID = JSONField.absent
    var receipt = Receipt.absent
    var transactionID = JSONField.absent
    var receiptData = JSONField.absent
    var appType = JSONField.absent
    var ipAddress = JSONField.absent
    var couponCode = JSONField.absent
    var applicationUsername = JSONField.absent
    var cleengCustomerID = JSONInteger.absent

    init() {}

    /// - Throws: ``Problem``: 400 where it is not JSON, 422 where it is JSON and no object.
    init(_ bytes: ByteBuffer) throws {
        var body = PaymentBody()
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            switch name {
            case "customerEmail": body.customerEmail = try JSONField(&scanner, depth: 2)
            case "offerId": body.offerID = try JSONField(&scanner, depth: 2)
            case "appType": body.appType = try JSONField(&scanner, depth: 2)
            case "ipAddress": body.ipAddress = try JSONField(&scanner, depth: 2)
            case "couponCode": body.couponCode = try JSONField(&scanner, depth: 2)
            case "applicationUsername": body.applicationUsername = try JSONField(&scanner, depth: 2)
            case "cleengCustomerId": body.cleengCustomerID = try JSONInteger(&scanner, depth: 2)
            case "receipt": try body.readReceipt(&scanner)
            default: try scanner.skip(depth: 2)
            }
        }
        self = body
    }

    private mutating func readReceipt(_ scanner: inout JSONScanner) throws(JSONSyntaxError) {
        (transactionID, receiptData) = (.absent, .absent)
        let kind = try scanner.kind()
        guard kind == .object else {
            try scanner.skip(depth: 2)
            receipt = kind == .null ? .absent : .other(kind)
            return
        }
        receipt = .object
        var (transactionID, receiptData) = (JSONField.absent, JSONField.absent)
        try scanner.object(depth: 2) { (scanner, name) throws(JSONSyntaxError) in
            switch name {
            case "transactionId": transactionID = try JSONField(&scanner, depth: 3)
            case "receiptData": receiptData = try JSONField(&scanner, depth: 3)
            default: try scanner.skip(depth: 3)
            }
        }
        (self.transactionID, self.receiptData) = (transactionID, receiptData)
    }
}
