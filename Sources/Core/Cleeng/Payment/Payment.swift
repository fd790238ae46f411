import Formats
public import NIOCore
public import RelayCore

/// One purchase as a request to its store's ``StoreTraits/paymentPath`` at Cleeng (references "iOS and tvOS", "Android",
/// "Amazon FireTV", "Roku").
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
    /// Not sent if the store's route has no coupon.
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

    private var platform: StorePlatform {
        switch receipt {
        case .apple: .apple
        case .store(let receipt): receipt.platform
        }
    }

    var route: String { platform.paymentPath }

    /// The request's body: Cleeng's fields and no others.
    func body() -> ByteBuffer {
        var capacity = 512
        if case .apple(let data, _, _) = receipt { capacity += data.readableBytes + customerEmail.utf8.count }
        return JSONWriter.body(capacity: capacity) { writer in
            writer.member("customerEmail", customerEmail)
            writer.member("offerId", offerID)
            writer.name(platform.receiptField)
            writer.beginObject()
            switch receipt {
            case .apple(let data, let transactionID, let appType):
                writer.member("transactionId", transactionID)
                writer.name("receiptData")
                data.withUnsafeReadableBytes { writer.value(utf8: $0.bindMemory(to: UInt8.self)) }
                writer.endObject()
                writer.member("appType", appType)
            case .store(let receipt):
                for (field, value) in receipt.members {
                    writer.name(field.name)
                    switch value {
                    case .number(let digits): writer.value(json: digits.utf8)
                    case .text(let text): writer.value(text)
                    }
                }
                writer.endObject()
            }
            writer.member("ipAddress", ipAddress)
            writer.member("couponCode", platform.takesCoupons ? couponCode : nil)
        }
    }
}
