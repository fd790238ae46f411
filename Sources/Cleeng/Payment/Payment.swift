import Formats
public import NIOCore
public import RelayCore

/// One purchase as a request to `POST /apple/payment`, `/android/payment`, `/amazon/payment` or `/roku/payment`
/// (Cleeng's references "iOS and tvOS", "Android", "Amazon FireTV", "Roku").
///
/// Prints only its offer: receipt, email and coupon must not appear in a log.
public struct Payment: Sendable, CustomStringConvertible, CustomReflectable {
    public enum Receipt: Sendable {
        /// The receipt's text exactly as the app sent it, in UTF-8. A buffer, so that megabytes are shared, not copied.
        ///
        /// - Parameter appType: `ios` or `tvos`.
        case apple(ByteBuffer, transactionID: TransactionID, appType: String)
        case store(StoreReceipt)
    }

    public var customerEmail: EmailAddress
    public var offerID: OfferID
    public var receipt: Receipt
    /// The customer's IP address, not the relay's. Nil unless it is reliably known.
    public var ipAddress: String?
    /// Not sent for Amazon and Roku, whose routes have no coupon.
    public var couponCode: CouponID?

    public init(
        customerEmail: EmailAddress, offerID: OfferID, receipt: Receipt, ipAddress: String? = nil,
        couponCode: CouponID? = nil
    ) {
        self.customerEmail = customerEmail
        self.offerID = offerID
        self.receipt = receipt
        self.ipAddress = ipAddress
        self.couponCode = couponCode
    }

    public var description: String { "Payment(\(offerID))" }
    public var customMirror: Mirror { Mirror(self, children: ["offerID": offerID]) }

    var route: String {
        switch receipt {
        case .apple: "/apple/payment"
        case .store(.google): "/android/payment"
        case .store(.amazon): "/amazon/payment"
        case .store(.roku): "/roku/payment"
        }
    }

    /// The request's body: Cleeng's fields and no others.
    func body() -> ByteBuffer {
        var capacity = 512
        if case .apple(let data, _, _) = receipt { capacity += data.readableBytes + customerEmail.utf8.count }
        return JSONWriter.body(capacity: capacity) { writer in
            var coupon = couponCode
            writer.member("customerEmail", customerEmail)
            writer.member("offerId", offerID)
            if case .store(.roku) = receipt { writer.beginObject("order") } else { writer.beginObject("receipt") }
            switch receipt {
            case .apple(let data, let transactionID, let appType):
                writer.member("transactionId", transactionID)
                writer.name("receiptData")
                data.withUnsafeReadableBytes { writer.value(utf8: $0.bindMemory(to: UInt8.self)) }
                writer.endObject()
                writer.member("appType", appType)
            case .store(.google(let receipt)):
                writer.member("productId", receipt.productId)
                writer.member("purchaseToken", receipt.purchaseToken)
                writer.member("packageName", receipt.packageName)
                writer.member("orderId", receipt.orderId)
                writer.member("purchaseState", receipt.purchaseState)
                writer.member("purchaseTime", receipt.purchaseTime)
                writer.member("developerPayload", receipt.developerPayload)
                writer.endObject()
            case .store(.amazon(let receipt)):
                writer.member("receiptId", receipt.receiptId)
                writer.member("userId", receipt.userId)
                writer.endObject()
                coupon = nil
            case .store(.roku(let order)):
                writer.member("amount", order.amount)
                writer.member("code", order.code)
                writer.member("purchaseId", order.purchaseId)
                writer.member("qty", order.qty)
                writer.member("total", order.total)
                writer.endObject()
                coupon = nil
            }
            writer.member("ipAddress", ipAddress)
            writer.member("couponCode", coupon)
        }
    }
}

extension JSONWriter {
    /// Writes a number or a text as the app sent it. Nil leaves the member out.
    fileprivate mutating func member(_ name: StaticString, _ scalar: StoreReceipt.SentScalar?) {
        switch scalar {
        case .number(let digits): field(name, json: digits)
        case .text(let text): member(name, text)
        case nil: break
        }
    }
}
