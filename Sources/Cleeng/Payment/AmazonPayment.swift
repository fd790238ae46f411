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
        var body = ByteBuffer()
        body.writeStaticString("{\"customerEmail\":")
        body.writeJSON(customerEmail)
        body.writeJSON(field: "offerId", offerId)
        body.writeStaticString(",\"receipt\":{\"receiptId\":")
        body.writeJSON(receiptId)
        body.writeJSON(field: "userId", userId)
        body.writeStaticString("}")
        body.writeJSON(field: "ipAddress", ipAddress)
        body.writeStaticString("}")
        return body
    }
}
