import Formats
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
        JSONWriter.body { writer in
            writer.member("customerEmail", customerEmail)
            writer.member("offerId", offerId)
            writer.object("receipt") { writer in
                writer.member("productId", receipt.productId)
                writer.member("purchaseToken", receipt.purchaseToken)
                writer.member("packageName", receipt.packageName)
                writer.member("orderId", receipt.orderId)
                writer.member("purchaseState", receipt.purchaseState)
                writer.member("purchaseTime", receipt.purchaseTime)
                writer.member("developerPayload", receipt.developerPayload)
            }
            writer.member("ipAddress", ipAddress)
            writer.member("couponCode", couponCode)
        }
    }
}

extension AndroidPayment.Receipt: CustomStringConvertible, CustomReflectable {
    public var description: String { "Receipt(\(productId))" }
    public var customMirror: Mirror { Mirror(self, children: ["productId": productId]) }
}
