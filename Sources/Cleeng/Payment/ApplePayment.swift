import Formats
import NIOCore

/// One purchase as `POST /apple/payment` takes it (Cleeng's reference "iOS and tvOS").
///
/// Prints as its offer alone: receipt, email and coupon are nobody's business in a log.
public struct ApplePayment: Sendable, CustomStringConvertible, CustomReflectable {
    public var customerEmail: String
    public var offerId: String
    public var transactionId: String
    /// The receipt's text exactly as the app sent it, in UTF-8. A buffer, so that megabytes are shared, not copied.
    public var receiptData: ByteBuffer
    /// `ios` or `tvos`.
    public var appType: String
    /// The customer's address, not ours; left out where it is not known for sure.
    public var ipAddress: String?
    public var couponCode: String?

    public init(
        customerEmail: String, offerId: String, transactionId: String, receiptData: ByteBuffer,
        appType: String = "ios", ipAddress: String? = nil, couponCode: String? = nil
    ) {
        self.customerEmail = customerEmail
        self.offerId = offerId
        self.transactionId = transactionId
        self.receiptData = receiptData
        self.appType = appType
        self.ipAddress = ipAddress
        self.couponCode = couponCode
    }

    public var description: String { "ApplePayment(\(offerId))" }
    public var customMirror: Mirror { Mirror(self, children: ["offerId": offerId]) }

    /// The request's body: Cleeng's fields and no others.
    func body() -> ByteBuffer {
        JSONWriter.body(capacity: receiptData.readableBytes + customerEmail.utf8.count + 512) { writer in
            writer.member("customerEmail", customerEmail)
            writer.member("offerId", offerId)
            writer.object("receipt") { writer in
                writer.member("transactionId", transactionId)
                writer.name("receiptData")
                receiptData.withUnsafeReadableBytes { writer.value(utf8: $0.bindMemory(to: UInt8.self)) }
            }
            writer.member("appType", appType)
            writer.member("ipAddress", ipAddress)
            writer.member("couponCode", couponCode)
        }
    }
}
