import NIOCore
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

    private static let names = [
        "customerEmail", "offerId", "receipt", "appType", "ipAddress", "couponCode", "applicationUsername",
        "cleengCustomerId",
    ]
    private static let fields = FieldNames(names, within: ["receipt": receiptNames])
    private static let receiptNames = ["transactionId", "receiptData"]
    private static let knownNames = UnknownFields.Known(names)
    private static let knownReceiptNames = UnknownFields.Known(receiptNames)

    /// - Throws: ``Problem``: 400 where it is not JSON, 422 that names every wrong field.
    init(_ body: ByteBuffer) throws {
        var unknown = UnknownFields()
        var reader = try FieldReader(body, Self.fields) { name, object in
            unknown.add(name, known: object == nil ? Self.knownNames : Self.knownReceiptNames, in: object)
        }
        let email = reader.email("customerEmail")
        let offerID = reader.offerID("offerId")
        var transactionID: TransactionID?
        var receiptData: String?
        if [.null, .object].contains(reader["receipt"].kind) {
            transactionID = reader.required("receipt.transactionId").flatMap { Self.transactionID($0, &reader) }
            receiptData = reader.required("receipt.receiptData").flatMap { Self.receiptData($0, &reader) }
        } else {
            transactionID = reader.refuse("receipt", wants: "an object", not: reader["receipt"].kind)
        }
        let appType = reader.optional("appType")?.asciiLowercased() ?? "ios"
        // By bytes: it may be as long as the body.
        if !appType.isSame("ios"), !appType.isSame("tvos") {
            reader.add("appType", .invalid, "must be ios or tvos")
        }
        let username = reader.username("applicationUsername")
        let cleengCustomer = reader.positive("cleengCustomerId")
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
        (couponCode, warnings) = CouponCode.read(reader["couponCode"])
        let address = CustomerAddress.read(reader["ipAddress"])
        ipAddress = address.text
        warnings += address.warnings + unknown.warnings(present: reader.present)
    }

    private static func transactionID(_ text: String, _ reader: inout FieldReader) -> TransactionID? {
        let name = "receipt.transactionId"
        guard text.utf8.count <= 32 else { return reader.refuse(name, .tooLong, "must have at most 32 digits") }
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return reader.refuse(name, "must be of digits") }
        return TransactionID(text)
    }

    private static func receiptData(_ text: String, _ reader: inout FieldReader) -> String? {
        var text = text
        if !text.isEmpty, text.withUTF8(ByteScan.isVisible) { return text }
        var hasContent = false
        for byte in text.utf8 {
            switch byte {
            case 0x20, 0x09, 0x0a, 0x0d: continue
            case ..<0x20, 0x7f: return reader.refuse("receipt.receiptData", "must not hold control characters")
            default: hasContent = true
            }
        }
        return hasContent ? text : reader.refuse("receipt.receiptData", "must not be empty")
    }
}
