import NIOCore

/// The body of `POST /apple/payment` as it stands: read, not yet judged. Unknown fields are ignored.
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
    private var unknown = UnknownFields()

    private static let names = [
        "customerEmail", "offerId", "receipt", "appType", "ipAddress", "couponCode", "applicationUsername",
        "cleengCustomerId",
    ]
    private static let receiptNames = ["transactionId", "receiptData"]

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
            default:
                body.unknown.add(name, known: Self.names)
                try scanner.skip(depth: 2)
            }
        }
        self = body
    }

    /// Of fields that are not known and look like a mistyped one.
    var warnings: [FieldError] {
        guard !unknown.isEmpty else { return [] }
        var present: Set<String> = []
        for (name, field) in [
            ("customerEmail", customerEmail), ("offerId", offerID), ("appType", appType), ("ipAddress", ipAddress),
            ("couponCode", couponCode), ("applicationUsername", applicationUsername),
            ("receipt.transactionId", transactionID), ("receipt.receiptData", receiptData),
        ] where field != .absent { present.insert(name) }
        if receipt != .absent { present.insert("receipt") }
        if cleengCustomerID != .absent { present.insert("cleengCustomerId") }
        return unknown.warnings(present: present)
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
        var (transactionID, receiptData, unknown) = (JSONField.absent, JSONField.absent, unknown)
        try scanner.object(depth: 2) { (scanner, name) throws(JSONSyntaxError) in
            switch name {
            case "transactionId": transactionID = try JSONField(&scanner, depth: 3)
            case "receiptData": receiptData = try JSONField(&scanner, depth: 3)
            default:
                unknown.add(name, known: Self.receiptNames, path: "receipt.")
                try scanner.skip(depth: 3)
            }
        }
        (self.transactionID, self.receiptData, self.unknown) = (transactionID, receiptData, unknown)
    }
}
