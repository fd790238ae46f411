import Foundation
import Relay
import RelayCore
import Testing

extension Acceptance {
    /// A purchase as the front accepts it. The purchase key follows from customer, offer and receipt, as in the front.
    static func sample(
        customer: String = "ana@example.test", subscription: String = "1000000001", offer: String = "S123456789_US",
        receipt: Receipt = Receipt(isText: false, bytes: Private([0x30, 0x03, 1, 2, 3])),
        environment: String = "Production",
        publisher: String = "main", app: String = "com.example.tv", idempotencyKey: IdempotencyKey? = nil
    ) throws -> Acceptance {
        struct NoEmail: Error {}
        guard let email = CustomerEmail(customer) else { throw NoEmail() }
        var generator = SystemRandomNumberGenerator()
        return Acceptance(
            id: ValidationID(
                bucket: Bucket(of: publisher, subscription), day: UInt16(Date().timeIntervalSince1970 / 86_400),
                using: &generator),
            publisher: PublisherID(publisher), app: BundleID(app), email: email,
            applicationUsername: Username(email.customer.text), offerID: OfferID(offer),
            transactionID: TransactionID(subscription), appType: "ios", ipAddress: "192.0.2.7", couponCode: "SUMMER",
            subscriptionKey: TransactionID(subscription), environment: StoreEnvironment(environment),
            productID: "com.example.monthly",
            bundleID: "com.example.tv", isReceiptReadable: true, receipt: receipt,
            purchaseKey: thirtyTwoBytes(
                [publisher, app, email.customer.text, offer, subscription, environment, "\(receipt.bytes.value)"]
                    .joined(
                        separator: "\n")),
            idempotencyKey: idempotencyKey)
    }
}

extension Acceptance.IdempotencyKey {
    static func sample(_ key: String, body: String, apiKey: String = "app-key") -> Acceptance.IdempotencyKey {
        Acceptance.IdempotencyKey(
            bucket: Bucket(of: apiKey, key), apiKey: APIKeyID(apiKey), digest: thirtyTwoBytes(key),
            fingerprint: thirtyTwoBytes(body))
    }
}

/// A digest for tests: equal for equal texts, different for different ones.
func thirtyTwoBytes(_ text: String) -> [UInt8] {
    (UInt8(0)..<32).map { Bucket(of: "\($0)", text).number }
}

/// Named by its size, since the test runner prints arguments.
extension Acceptance.Receipt: CustomTestStringConvertible {
    public var testDescription: String { "\(bytes.value.count) bytes\(isText ? " of text" : "")" }
}
