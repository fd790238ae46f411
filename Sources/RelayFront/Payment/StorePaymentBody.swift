import NIOCore

/// The body of `POST /android/payment` and `/amazon/payment` as it stands: read, not yet judged. Unknown fields are passed over.
struct StorePaymentBody: Sendable {
    var customerEmail = JSONField.absent
    var offerID = JSONField.absent
    var ipAddress = JSONField.absent
    var couponCode = JSONField.absent
    var applicationUsername = JSONField.absent
    /// The fields of `receipt` that stores use, by name; numbers as text. Nil where it is no object.
    var receipt: [String: JSONField]? = [:]

    private static let receiptFields: Set = [
        "productId", "purchaseToken", "packageName", "orderId", "purchaseState", "purchaseTime", "developerPayload",
        "receiptId", "userId",
    ]

    /// - Throws: ``Problem``: 400 where it is not JSON, 422 where it is JSON and no object.
    init(_ bytes: ByteBuffer) throws {
        var body = Self()
        try JSONScanner.readObject(bytes) { (scanner, name) throws(JSONSyntaxError) in
            switch name {
            case "customerEmail": body.customerEmail = try JSONField(&scanner, depth: 2)
            case "offerId": body.offerID = try JSONField(&scanner, depth: 2)
            case "ipAddress": body.ipAddress = try JSONField(&scanner, depth: 2)
            case "couponCode": body.couponCode = try JSONField(&scanner, depth: 2)
            case "applicationUsername": body.applicationUsername = try JSONField(&scanner, depth: 2)
            case "receipt": body.receipt = try Self.receipt(&scanner)
            default: try scanner.skip(depth: 2)
            }
        }
        self = body
    }

    private init() {}

    private static func receipt(_ scanner: inout JSONScanner) throws(JSONSyntaxError) -> [String: JSONField]? {
        let kind = try scanner.kind()
        guard kind == .object else {
            try scanner.skip(depth: 2)
            return kind == .null ? [:] : nil
        }
        var fields: [String: JSONField] = [:]
        try scanner.object(depth: 2) { (scanner, name) throws(JSONSyntaxError) in
            guard receiptFields.contains(name) else { return try scanner.skip(depth: 3) }
            fields[name] = try JSONField(textOrNumber: &scanner, depth: 3)
        }
        return fields
    }

    /// The same fields of a receipt that is a text of JSON by itself. Nil where it is none.
    static func receiptFields(inText text: String) -> [String: JSONField]? {
        var fields: [String: JSONField] = [:]
        let read: Void? = try? JSONScanner.readObject(ByteBuffer(string: text)) {
            (scanner, name) throws(JSONSyntaxError) in
            guard receiptFields.contains(name) else { return try scanner.skip(depth: 2) }
            fields[name] = try JSONField(textOrNumber: &scanner, depth: 2)
        }
        return read == nil ? nil : fields
    }
}
