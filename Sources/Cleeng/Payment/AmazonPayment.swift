import Formats
import NIOCore

/// One purchase as `POST /amazon/payment` takes it (Cleeng's reference "Amazon FireTV"). It takes no coupon.
///
/// Prints as its offer alone: receipt, user and email are nobody's business in a log.
public struct AmazonPayment: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    public var customerEmail: String
    public var offerId: String
    /// Of the purchase, as Amazon gave it to the app.
    public var receiptId: String
    /// The customer's at Amazon, for this app.
    public var userId: String
    /// The customer's address, not ours; left out where it is not known for sure.
    public var ipAddress: String?

    public init(customerEmail: String, offerId: String, receiptId: String, userId: String, ipAddress: String? = nil) {
        self.customerEmail = customerEmail
        self.offerId = offerId
        self.receiptId = receiptId
        self.userId = userId
        self.ipAddress = ipAddress
    }

    public var description: String { "AmazonPayment(\(offerId))" }
    public var customMirror: Mirror { Mirror(self, children: ["offerId": offerId]) }

    /// The request's body: Cleeng's fields and no others.
    func body() -> ByteBuffer {
        JSONWriter.body { writer in
            writer.member("customerEmail", customerEmail)
            writer.member("offerId", offerId)
            writer.object("receipt") { writer in
                writer.member("receiptId", receiptId)
                writer.member("userId", userId)
            }
            writer.member("ipAddress", ipAddress)
        }
    }
}
