import Formats
import HTTPServer
import NIOCore
package import RelayCore

/// An app's purchase at any store, with every field validated.
package struct PurchaseRequest: Sendable {
    var email: CustomerEmail
    var offerID: OfferID
    var proof: PurchaseProof
    /// Nil if the app sent none: the peer's address is used.
    var ipAddress: String?
    var couponCode: CouponID?
    var applicationUsername: Username
    /// Cleeng's number of the customer, if the app sent it.
    var cleengCustomer: Int64?
    var warnings: [FieldError] = []

    package init(
        email: CustomerEmail, offerID: OfferID, proof: PurchaseProof, couponCode: CouponID? = nil,
        applicationUsername: Username, cleengCustomer: Int64? = nil
    ) {
        self.email = email
        self.offerID = offerID
        self.proof = proof
        self.couponCode = couponCode
        self.applicationUsername = applicationUsername
        self.cleengCustomer = cleengCustomer
    }
}

extension PurchaseRequest {
    static let names = [
        "customerEmail", "offerId", "receipt", "appType", "ipAddress", "couponCode", "applicationUsername",
        "cleengCustomerId",
    ]
    private static let known = UnknownFields.Known(names)
    private static let knownInReceipt = UnknownFields.Known(PurchaseProof.Apple.names)

    /// - Parameter readsNumber: whether Cleeng's number of the customer is read. Otherwise it is ignored, whatever its
    ///   value.
    /// - Throws: ``Problem``: 400 if it is not JSON, 422 that names every wrong field.
    init(_ body: ByteBuffer, of platform: StorePlatform, readsNumber: Bool) throws {
        var unknown = UnknownFields()
        var reader = try FieldReader(body, platform.paymentFields) { name, object in
            guard platform == .apple else { return }
            unknown.add(name, known: object == nil ? Self.known : Self.knownInReceipt, in: object)
        }
        let email = reader.email("customerEmail")
        let offerID = reader.offerID("offerId")
        let proof = PurchaseProof(of: platform, &reader)
        let username = reader.username("applicationUsername")
        let cleengCustomer = readsNumber ? reader.positive("cleengCustomerId") : nil
        guard reader.errors.isEmpty, let email, let offerID, let proof else {
            throw Problem.invalidFields(reader.errors)
        }
        self.init(
            email: email, offerID: offerID, proof: proof,
            applicationUsername: username ?? Username(email.customer.text), cleengCustomer: cleengCustomer)
        if platform.takesCoupons { couponCode = reader.couponCode(&warnings) }
        ipAddress = reader.ipAddress(&warnings)
        warnings += unknown.warnings(present: reader.present)
    }
}

/// Readers of fields that never fail a purchase: a wrong one is omitted with a warning.
extension FieldReader {
    private static let mostCouponCharacters = 40

    fileprivate func couponCode(_ warnings: inout [FieldError]) -> CouponID? {
        let most = Self.mostCouponCharacters
        let text = lenient("couponCode", "the coupon", "the purchase goes on without it", &warnings) { text in
            if text.trimmingSpace().isEmpty { return "is blank" }
            if text.utf8.count > most * 4 || text.unicodeScalars.count > most {
                return "has more than \(most) characters"
            }
            let isPlain = !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
            return isPlain ? nil : "holds control characters"
        }
        return CouponID(text)
    }

    fileprivate func ipAddress(_ warnings: inout [FieldError]) -> String? {
        lenient("ipAddress", "the address", "the purchase goes on with the peer's", &warnings) {
            IPAddress($0) == nil ? "must be an IPv4 or IPv6 address" : nil
        }
    }

    /// - Parameter trouble: what is wrong with a text; nil if nothing is.
    private func lenient(
        _ name: String, _ subject: String, _ rest: String, _ warnings: inout [FieldError], trouble: (String) -> String?
    ) -> String? {
        let why: String
        switch self[name] {
        case .absent: return nil
        case .string(let text):
            guard let found = trouble(text) else { return text }
            why = found
        case let field: why = "must be a string, not \(field.kind.article)"
        }
        warnings.append(FieldError(name, .ignored, "\(subject) \(why); \(rest)"))
        return nil
    }
}

extension StorePlatform {
    /// The fields of a purchase's body.
    var paymentFields: FieldNames { Self.fieldNames[self] ?? FieldNames(PurchaseRequest.names) }

    private static let fieldNames = Dictionary(
        uniqueKeysWithValues: allCases.map { platform in
            let members = platform.receipt?.fields.map(\.name) ?? PurchaseProof.Apple.names
            return (platform, FieldNames(PurchaseRequest.names, within: [platform.receiptField: members]))
        })
}
