import RelayCore

/// A purchase as an app asks for it: every field judged.
struct PaymentRequest: Sendable {
    var email: CustomerEmail
    var offerID: OfferID
    var transactionID: TransactionID
    var receiptData: String
    var appType: String
    /// Nil where the app named none: the peer's counts.
    var ipAddress: String?
    var couponCode: CouponID?
    var applicationUsername: Username
    /// The customer's number at Cleeng, where the app knows it.
    var cleengCustomer: Int64?
    var warnings: [FieldError] = []

    /// - Throws: ``Problem`` 422 that names every wrong field.
    init(_ body: PaymentBody) throws {
        var reader = FieldReader()
        let email = reader.required(body.customerEmail, "customerEmail").flatMap { reader.email($0, "customerEmail") }
        let offerID = reader.required(body.offerID, "offerId").flatMap { reader.offerID($0, "offerId") }
        var transactionID: TransactionID?
        var receiptData: String?
        if case .other(let kind) = body.receipt {
            reader.add(.wrongType("receipt", "an object", kind))
        } else {
            transactionID = reader.required(body.transactionID, "receipt.transactionId")
                .flatMap { Self.transactionID($0, &reader) }
            receiptData = reader.required(body.receiptData, "receipt.receiptData")
                .flatMap { Self.receiptData($0, &reader) }
        }
        let appType = reader.optional(body.appType, "appType")?.asciiLowercased() ?? "ios"
        if appType != "ios", appType != "tvos" {
            reader.add(FieldError("appType", .invalid, "must be ios or tvos"))
        }
        let username = reader.optional(body.applicationUsername, "applicationUsername")
            .flatMap { Self.username($0, &reader) }
        let cleengCustomer = reader.positive(body.cleengCustomerID, "cleengCustomerId")
        guard reader.errors.isEmpty, let email, let offerID, let transactionID, let receiptData else {
            throw Problem.invalidFields(reader.errors)
        }
        self.email = email
        self.offerID = offerID
        self.transactionID = transactionID
        self.receiptData = receiptData
        self.appType = appType
        self.applicationUsername = username ?? Username(email.customer.text)
        self.cleengCustomer = cleengCustomer
        (couponCode, warnings) = CouponCode.read(body.couponCode)
        let address = CustomerAddress.read(body.ipAddress)
        ipAddress = address.text
        warnings += address.warnings + body.warnings
    }

    private static func transactionID(_ text: String, _ reader: inout FieldReader) -> TransactionID? {
        guard text.utf8.count <= 32 else {
            reader.add(FieldError("receipt.transactionId", .tooLong, "must have at most 32 digits"))
            return nil
        }
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            reader.add(FieldError("receipt.transactionId", .invalid, "must be of digits"))
            return nil
        }
        return TransactionID(text)
    }

    private static func receiptData(_ text: String, _ reader: inout FieldReader) -> String? {
        var text = text
        if !text.isEmpty, text.withUTF8(ByteScan.isVisible) { return text }
        var hasContent = false
        for byte in text.utf8 {
            switch byte {
            case 0x20, 0x09, 0x0a, 0x0d: continue
            case ..<0x20, 0x7f:
                reader.add(FieldError("receipt.receiptData", .invalid, "must not hold control characters"))
                return nil
            default: hasContent = true
            }
        }
        guard hasContent else {
            reader.add(FieldError("receipt.receiptData", .invalid, "must not be empty"))
            return nil
        }
        return text
    }

    static func username(_ text: String, _ reader: inout FieldReader) -> Username? {
        guard !text.isEmpty else {
            reader.add(FieldError("applicationUsername", .invalid, "must not be empty"))
            return nil
        }
        // A character has at least one byte and one scalar, so that much text is never counted.
        guard text.utf8.count <= 512 * 4, text.unicodeScalars.count <= 512 else {
            reader.add(FieldError("applicationUsername", .tooLong, "must have at most 512 characters"))
            return nil
        }
        return Username(text)
    }
}
