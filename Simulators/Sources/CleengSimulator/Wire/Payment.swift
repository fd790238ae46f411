import Crypto
import Foundation

/// A well-formed body of `POST /apple/payment`, `/android/payment`, `/amazon/payment` or `/roku/payment`.
struct Payment: Sendable, Equatable {
    let email: EmailAddress
    let offerId: OfferId
    /// The purchase token for Google, the receipt id for Amazon, the purchase id for Roku. None changes while the
    /// subscription runs.
    let transactionId: String
    let receipt: ReceiptSummary
    /// `ios` or `tvos`; for other stores `android`, `amazon` and `roku`.
    let appType: String
    let ipAddress: String?
    let couponCode: String?

    /// Key of the subscription: the receipt's original transaction id, else the caller's transaction id.
    var subscription: String { receipt.originalTransactionId ?? transactionId }

    /// Reads a body and reports all invalid fields at once.
    ///
    /// Cleeng publishes no error table for these endpoints; status and code are those of similar endpoints.
    init(_ gateway: PaymentGateway, body: AnyJSON?, identity: ReceiptIdentity) throws(WireFault) {
        guard let body, case .object = body else { throw .invalidBody("The body is not a JSON object") }
        var wrong: [String] = []
        func check<T>(_ field: String, _ value: T?) -> T? {
            if value == nil { wrong.append(field) }
            return value
        }
        func text(_ field: String) -> String? {
            check("receipt.\(field)", body["receipt"]?[field]?.string.flatMap { $0.isEmpty ? nil : $0 })
        }
        let email = check("customerEmail", body["customerEmail"]?.string.flatMap { EmailAddress($0) })
        let offerId = check("offerId", body["offerId"]?.string.flatMap { OfferId($0) })
        let transactionId: String?
        let receiptData: String?
        switch gateway {
        case .apple:
            transactionId = check(
                "receipt.transactionId",
                body["receipt"]?["transactionId"]?.string.flatMap { TransactionIdText.isAcceptable($0) ? $0 : nil })
            receiptData = text("receiptData")
        case .android:
            // Fields needed to ask Google.
            let asked = [text("productId"), text("packageName")]
            transactionId = text("purchaseToken")
            receiptData = asked.contains(nil) ? nil : transactionId
        case .amazon:
            transactionId = text("receiptId")
            receiptData = text("userId") == nil ? nil : transactionId
        case .roku:
            func order(_ field: String) -> String? {
                check("order.\(field)", body["order"]?[field]?.string.flatMap { $0.isEmpty ? nil : $0 })
            }
            let code = order("code")
            transactionId = order("purchaseId")
            receiptData = code == nil ? nil : transactionId
        }
        let known = gateway == .apple ? ["ios", "tvos"] : [gateway.rawValue]
        let appType = check("appType", Self.optional(body["appType"], known[0]) { known.contains($0) })
        let ipAddress = check("ipAddress", Self.optional(body["ipAddress"], "", IPAddressText.isAcceptable))
        let couponCode = check("couponCode", Self.optional(body["couponCode"], "") { _ in true })
        guard let email, let offerId, let transactionId, let receiptData, let appType, let ipAddress, let couponCode
        else { throw .invalidBody("Invalid request body: \(wrong.joined(separator: ", "))", fields: wrong) }
        self.email = email
        self.offerId = offerId
        self.transactionId = transactionId
        receipt = ReceiptSummary(
            receiptData: receiptData,
            originalTransactionId: gateway == .apple ? identity.read(receiptData, transactionId) : nil)
        self.appType = appType
        self.ipAddress = ipAddress.isEmpty ? nil : ipAddress
        self.couponCode = couponCode.isEmpty ? nil : couponCode
    }

    /// - Returns: the default if the field is missing or null, nil if it is invalid.
    private static func optional(_ value: AnyJSON?, _ standard: String, _ isValid: (String) -> Bool) -> String? {
        guard let value, !value.isNull else { return standard }
        return value.string.flatMap { isValid($0) ? $0 : nil }
    }
}

/// The stores whose purchases Cleeng accepts, each at `/{store}/payment`.
enum PaymentGateway: String, Sendable, CaseIterable {
    case apple
    case android
    case amazon
    case roku

    /// - Parameter appType: app type of an entitlement: `ios`, `tvos`, `android`, `amazon`, `roku`.
    init(appType: String) { self = PaymentGateway(rawValue: appType) ?? .apple }
}

/// The stored data on a receipt.
struct ReceiptSummary: Sendable, Equatable {
    /// SHA-256 of the receipt's text as sent, in lower-case hexadecimal digits.
    let sha256: String
    /// UTF-8 bytes of the receipt's text.
    let length: Int
    /// Read from the receipt; nil if it cannot be read.
    let originalTransactionId: String?

    init(receiptData: String, originalTransactionId: String?) {
        sha256 = HexDigest.sha256(Data(receiptData.utf8))
        length = receiptData.utf8.count
        self.originalTransactionId = originalTransactionId
    }
}

/// Apple's transaction ids: text of digits.
enum TransactionIdText {
    static func isAcceptable(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// Customer IP addresses that Cleeng's published schema accepts: dotted IPv4, or IPv6 with all eight groups. A
/// shortened IPv6 address (`::1`) does not match that schema.
enum IPAddressText {
    static func isAcceptable(_ text: String) -> Bool {
        guard text.utf8.count <= 45 else { return false }
        let dotted = text.split(separator: ".", omittingEmptySubsequences: false)
        if dotted.count == 4 {
            return dotted.allSatisfy { part in
                part.utf8.count <= 3 && part.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt8(part) != nil
            }
        }
        let groups = text.split(separator: ":", omittingEmptySubsequences: false)
        return groups.count == 8
            && groups.allSatisfy { (1...4).contains($0.utf8.count) && $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}

/// Digests as text: lower-case hexadecimal digits.
enum HexDigest {
    static func sha256(_ bytes: some DataProtocol) -> String { text(of: SHA256.hash(data: bytes)) }

    static func text(of digest: some Sequence<UInt8>) -> String {
        digest.map { byte in
            let digits = String(byte, radix: 16)
            return digits.utf8.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
