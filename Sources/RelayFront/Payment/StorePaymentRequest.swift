import RelayCore

/// A purchase in another store than Apple's as an app asks for it: every field judged.
struct StorePaymentRequest: Sendable {
    /// Google's tokens have some two hundred characters. A key of the database's has to hold it.
    private static let mostNameBytes = 1_024
    private static let mostBytes = 4_096

    var email: CustomerEmail
    var offerID: String
    var receipt: StoreReceipt
    /// Nil where the app named none: the peer's counts.
    var ipAddress: String?
    var couponCode: String?
    var applicationUsername: String
    var warnings: [FieldError] = []

    /// - Throws: ``Problem`` 422 that names every wrong field.
    init(_ body: StorePaymentBody, of platform: StorePlatform) throws {
        var reader = FieldReader()
        let email = reader.required(body.customerEmail, "customerEmail").flatMap { reader.email($0, "customerEmail") }
        let offerID = reader.required(body.offerID, "offerId").flatMap { reader.offerID($0, "offerId") }
        let receipt = Self.receipt(body.receipt, platform, &reader)
        let ipAddress = reader.optional(body.ipAddress, "ipAddress")
        if let ipAddress, IPAddress(ipAddress) == nil {
            reader.add(FieldError("ipAddress", .invalid, "must be an IPv4 or IPv6 address"))
        }
        let username = reader.optional(body.applicationUsername, "applicationUsername")
            .flatMap { PaymentRequest.username($0, &reader) }
        guard reader.errors.isEmpty, let email, let offerID, let receipt else {
            throw Problem.invalidFields(reader.errors)
        }
        self.email = email
        self.offerID = offerID
        self.receipt = receipt
        self.ipAddress = ipAddress
        applicationUsername = username ?? email.customer
        // Cleeng takes none for a purchase at Amazon.
        if platform == .google { (couponCode, warnings) = CouponCode.read(body.couponCode) }
    }

    private static func receipt(
        _ fields: [String: JSONField]?, _ platform: StorePlatform, _ reader: inout FieldReader
    ) -> StoreReceipt? {
        guard let fields else {
            reader.add(FieldError("receipt", .wrongType, "must be an object"))
            return nil
        }
        func optional(_ name: String, most: Int = mostBytes, _ reader: inout FieldReader) -> String? {
            text(reader.optional(fields[name] ?? .absent, "receipt.\(name)"), name, most: most, &reader)
        }
        func required(_ name: String, _ reader: inout FieldReader) -> String? {
            text(reader.required(fields[name] ?? .absent, "receipt.\(name)"), name, most: mostNameBytes, &reader)
        }
        guard platform == .google else {
            let (receiptID, userID) = (required("receiptId", &reader), required("userId", &reader))
            guard let receiptID, let userID else { return nil }
            return .amazon(.init(receiptId: receiptID, userId: userID))
        }
        let productID = required("productId", &reader)
        let token = required("purchaseToken", &reader)
        let packageName = required("packageName", &reader)
        let orderID = optional("orderId", most: 255, &reader)
        let state = optional("purchaseState", most: 64, &reader)
        let time = optional("purchaseTime", most: 64, &reader)
        let payload = optional("developerPayload", &reader)
        guard let productID, let token, let packageName else { return nil }
        return .google(
            .init(
                productId: productID, purchaseToken: token, packageName: packageName, orderId: orderID,
                purchaseState: state, purchaseTime: time, developerPayload: payload))
    }

    private static func text(_ text: String?, _ name: String, most: Int, _ reader: inout FieldReader) -> String? {
        guard let text else { return nil }
        guard text.utf8.count <= most else {
            reader.add(FieldError("receipt.\(name)", .tooLong, "must have at most \(most) bytes"))
            return nil
        }
        let isPlain = !text.isEmpty && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard isPlain || name == "developerPayload" else {
            reader.add(FieldError("receipt.\(name)", .invalid, "must not be empty, nor hold control characters"))
            return nil
        }
        return text
    }
}
