import NIOCore
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
    /// The customer's number at Cleeng, where the app knows it and a connector wants it.
    var cleengCustomer: Int64?
    var warnings: [FieldError] = []

    private static let names = [
        "customerEmail", "offerId", "ipAddress", "couponCode", "applicationUsername", "cleengCustomerId",
    ]
    private static let receiptFields = FieldNames(names, within: ["receipt": StoreReceipt.names])
    private static let orderFields = FieldNames(names, within: ["order": StoreReceipt.orderNames])

    /// - Parameter connects: whether the publisher's account has Cleeng's connector for the store. Else the customer's number is ignored.
    /// - Throws: ``Problem``: 400 where it is not JSON, 422 that names every wrong field.
    init(_ body: ByteBuffer, of platform: StorePlatform, connects: Bool) throws {
        let (object, names) =
            platform == .roku ? ("order", Self.orderFields) : ("receipt", Self.receiptFields)
        var reader = try FieldReader(body, names)
        let email = reader.email("customerEmail")
        let offerID = reader.offerID("offerId")
        var receipt: StoreReceipt?
        if [.null, .object].contains(reader[object].kind) {
            receipt = StoreReceipt(of: platform, &reader) { name, reader in
                // Of Roku's orders numbers go on as numbers.
                let field = reader["\(object).\(name)"]
                return (platform == .roku ? field : field.textOrNumber, path: "\(object).\(name)")
            }
        } else {
            reader.add(object, .wrongType, "must be an object")
        }
        let username = reader.username("applicationUsername")
        let cleengCustomer = connects ? reader.positive("cleengCustomerId") : nil
        guard reader.errors.isEmpty, let email, let offerID, let receipt else {
            throw Problem.invalidFields(reader.errors)
        }
        self.email = email
        self.offerID = offerID
        self.receipt = receipt
        applicationUsername = username ?? Username(email.customer.text)
        self.cleengCustomer = cleengCustomer
        switch receipt {
        case .google: (couponCode, warnings) = CouponCode.read(reader["couponCode"])
        // Cleeng takes no coupon for a purchase at Amazon or Roku.
        case .amazon, .roku: break
        }
        let address = CustomerAddress.read(reader["ipAddress"])
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
        case .string(let text):
            if text.trimmingSpace().isEmpty { return ignored("is blank") }
            if text.utf8.count > maximumLength * 4 || text.unicodeScalars.count > maximumLength {
                return ignored("has more than \(maximumLength) characters")
            }
            if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                return ignored("holds control characters")
            }
            return (CouponID(text), [])
        default: return ignored("must be a string, not \(field.kind.article)")
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
        case .string(let text):
            guard IPAddress(text) != nil else { return ignored("must be an IPv4 or IPv6 address") }
            return (text, [])
        default: return ignored("must be a string, not \(field.kind.article)")
        }
    }

    private static func ignored(_ why: String) -> (text: String?, warnings: [FieldError]) {
        (nil, [FieldError("ipAddress", .ignored, "the address \(why); the purchase goes on with the peer's")])
    }
}
