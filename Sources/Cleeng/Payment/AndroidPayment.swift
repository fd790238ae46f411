import NIOCore

/// One purchase as `POST /android/payment` takes it (Cleeng's reference "Android").
///
/// Prints as its offer alone: token, email and coupon are nobody's business in a log.
public struct AndroidPayment: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// What Google Play hands the app, field by field. Cleeng's example has all of them as text, numbers too.
    public struct Receipt: Sendable, Hashable {
        public var productId: String
        public var purchaseToken: String
        public var packageName: String
        public var orderId: String?
        /// `0` for a purchase.
        public var purchaseState: String?
        /// In milliseconds since 1970.
        public var purchaseTime: String?
        /// What the app once gave along; Google has given it up.
        public var developerPayload: String?

        public init(
            productId: String, purchaseToken: String, packageName: String, orderId: String? = nil,
            purchaseState: String? = nil, purchaseTime: String? = nil, developerPayload: String? = nil
        ) {
            self.productId = productId
            self.purchaseToken = purchaseToken
            self.packageName = packageName
            self.orderId = orderId
            self.purchaseState = purchaseState
            self.purchaseTime = purchaseTime
            self.developerPayload = developerPayload
        }
    }

    public var customerEmail: String
    public var offerId: String
    public var receipt: Receipt
    /// The customer's address, not ours; left out where it is not known for sure.
    public var ipAddress: String?
    public var couponCode: String?

    public init(
        customerEmail: String, offerId: String, receipt: Receipt, ipAddress: String? = nil, couponCode: String? = nil
    ) {
        self.customerEmail = customerEmail
        self.offerId = offerId
        self.receipt = receipt
        self.ipAddress = ipAddress
        self.couponCode = couponCode
    }

    public var description: String { "AndroidPayment(\(offerId))" }
    public var customMirror: Mirror { Mirror(self, children: ["offerId": offerId]) }

    /// The request's body: Cleeng's fields and no others.
    func body() -> ByteBuffer {
        var body = ByteBuffer()
        body.writeStaticString("{\"customerEmail\":")
        body.writeJSON(customerEmail)
        body.writeJSON(field: "offerId", offerId)
        body.writeStaticString(",\"receipt\":{\"productId\":")
        body.writeJSON(receipt.productId)
        body.writeJSON(field: "purchaseToken", receipt.purchaseToken)
        body.writeJSON(field: "packageName", receipt.packageName)
        body.writeJSON(field: "orderId", receipt.orderId)
        body.writeJSON(field: "purchaseState", receipt.purchaseState)
        body.writeJSON(field: "purchaseTime", receipt.purchaseTime)
        body.writeJSON(field: "developerPayload", receipt.developerPayload)
        body.writeStaticString("}")
        body.writeJSON(field: "ipAddress", ipAddress)
        body.writeJSON(field: "couponCode", couponCode)
        body.writeStaticString("}")
        return body
    }
}

extension AndroidPayment.Receipt: CustomStringConvertible, CustomReflectable {
    public var description: String { "Receipt(\(productId))" }
    public var customMirror: Mirror { Mirror(self, children: ["productId": productId]) }
}
