import RelayCore

/// A purchase in another store than Apple's as an app asks for it: every field judged.
struct StorePaymentRequest: Sendable {
    var email: CustomerEmail
    var offerID: OfferID
    var receipt: StoreReceipt
    /// Nil where the app named none: the peer's counts.
    var ipAddress: String?
    var couponCode: CouponID?
    var applicationUsername: Username
    var warnings: [FieldError] = []

    /// - Throws: ``Problem`` 422 that names every wrong field.
    init(_ body: StorePaymentBody, of platform: StorePlatform) throws {
        var reader = FieldReader()
        let email = reader.required(body.customerEmail, "customerEmail").flatMap { reader.email($0, "customerEmail") }
        let offerID = reader.required(body.offerID, "offerId").flatMap { reader.offerID($0, "offerId") }
        var receipt: StoreReceipt?
        if let fields = body.receipt {
            receipt = StoreReceipt(fields, of: platform, &reader) { "receipt.\($0)" }
        } else {
            reader.add(FieldError("receipt", .wrongType, "must be an object"))
        }
        let username = reader.optional(body.applicationUsername, "applicationUsername")
            .flatMap { PaymentRequest.username($0, &reader) }
        guard reader.errors.isEmpty, let email, let offerID, let receipt else {
            throw Problem.invalidFields(reader.errors)
        }
        self.email = email
        self.offerID = offerID
        self.receipt = receipt
        applicationUsername = username ?? Username(email.customer.text)
        switch receipt {
        case .google: (couponCode, warnings) = CouponCode.read(body.couponCode)
        // Cleeng takes no coupon for a purchase at Amazon.
        case .amazon: break
        }
        let address = CustomerAddress.read(body.ipAddress)
        ipAddress = address.text
        warnings += address.warnings
    }

    /// One that its app has only had validated: without coupon or address.
    init(validating receipt: StoreReceipt, of email: CustomerEmail, username: Username, offerID: OfferID) {
        self.email = email
        self.offerID = offerID
        self.receipt = receipt
        applicationUsername = username
    }
}

/// A coupon as an app sends it. A wrong one never fails a purchase: it is left out, and the answer says so.
enum CouponCode {
    static let maximumLength = 40

    static func read(_ field: JSONField) -> (code: CouponID?, warnings: [FieldError]) {
        switch field {
        case .absent: return (nil, [])
        case .other(let kind): return ignored("must be a string, not \(kind.article)")
        case .string(let text):
            if text.trimmingSpace().isEmpty { return ignored("is blank") }
            if text.utf8.count > maximumLength * 4 || text.unicodeScalars.count > maximumLength {
                return ignored("has more than \(maximumLength) characters")
            }
            if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                return ignored("holds control characters")
            }
            return (CouponID(text), [])
        }
    }

    private static func ignored(_ why: String) -> (code: CouponID?, warnings: [FieldError]) {
        (nil, [FieldError("couponCode", .ignored, "the coupon \(why); the purchase goes on without it")])
    }
}

/// The customer's address as an app sends it. A wrong one never fails a purchase: it is left out, and the answer says so.
enum CustomerAddress {
    static func read(_ field: JSONField) -> (text: String?, warnings: [FieldError]) {
        switch field {
        case .absent: return (nil, [])
        case .other(let kind): return ignored("must be a string, not \(kind.article)")
        case .string(let text):
            guard IPAddress(text) != nil else { return ignored("must be an IPv4 or IPv6 address") }
            return (text, [])
        }
    }

    private static func ignored(_ why: String) -> (text: String?, warnings: [FieldError]) {
        (nil, [FieldError("ipAddress", .ignored, "the address \(why); the purchase goes on with the peer's")])
    }
}
