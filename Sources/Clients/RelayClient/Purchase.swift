import Foundation

/// One purchase, in the form that the relay accepts.
public struct Purchase: Sendable, Hashable {
    /// Platform of the app, for purchases in the App Store.
    public enum AppType: String, Sendable, Hashable {
        case ios
        case tvos

        /// The type of the device on which this code runs.
        public static var current: AppType {
            #if os(tvOS)
                .tvos
            #else
                .ios
            #endif
        }
    }

    /// The customer's email, at most 254 bytes. Case and surrounding space do not matter.
    public var email: String
    /// The offer's id at Cleeng, such as `S123456789_US`. At most 100 letters, digits, `_`, `-` and `.`.
    public var offer: String
    public var proof: Proof
    public var appType: AppType
    /// 1 to 40 characters. The relay ignores an invalid coupon and lists it in ``RelayClient/Validation/warnings``.
    public var coupon: String?
    /// The publisher's own id of the user, 1 to 512 characters. Defaults to the email.
    public var applicationUsername: String?
    /// The customer's number at Cleeng. It allows Cleeng's StoreKit 2 API for a signed transaction, and Cleeng's Google
    /// connector for a subscription at Google Play.
    public var cleengCustomerID: Int?

    public init(
        email: String, offer: String, proof: Proof, appType: AppType = .current, coupon: String? = nil,
        applicationUsername: String? = nil, cleengCustomerID: Int? = nil
    ) {
        self.email = email
        self.offer = offer
        self.proof = proof
        self.appType = appType
        self.coupon = coupon
        self.applicationUsername = applicationUsername
        self.cleengCustomerID = cleengCustomerID
    }
}

/// Data from a store that proves a purchase.
public enum Proof: Sendable, Hashable {
    /// StoreKit 2: `VerificationResult.jwsRepresentation`, unchanged; and `Transaction.id` in digits.
    case signedTransaction(String, transactionID: String)
    /// StoreKit 1: the file at `Bundle.main.appStoreReceiptURL`; and `SKPaymentTransaction.transactionIdentifier`.
    case appReceipt(Data, transactionID: String)
    /// Google Play: fields of the billing library's `Purchase`.
    case googlePlay(productID: String, purchaseToken: String, packageName: String, orderID: String? = nil)
    /// Amazon Appstore: fields of the SDK's `Receipt` and `UserData`.
    case amazon(receiptID: String, userID: String)
    /// Roku Pay: the `orderStatus` of `doOrder`. The relay passes amount and total on as texts or numbers, as given
    /// here.
    case roku(Order)

    /// An order of Roku Pay.
    public struct Order: Sendable, Hashable {
        /// The transaction's id.
        public var purchaseID: String
        /// The product.
        public var code: String
        public var amount: Value?
        public var quantity: Int?
        public var total: Value?

        public enum Value: Sendable, Hashable {
            case text(String)
            case number(Double)
        }

        public init(
            purchaseID: String, code: String, amount: Value? = nil, quantity: Int? = nil, total: Value? = nil
        ) {
            self.purchaseID = purchaseID
            self.code = code
            self.amount = amount
            self.quantity = quantity
            self.total = total
        }
    }
}

extension Purchase {
    var path: String {
        switch proof {
        case .signedTransaction, .appReceipt: "apple/payment"
        case .googlePlay: "android/payment"
        case .amazon: "amazon/payment"
        case .roku: "roku/payment"
        }
    }

    /// JSON with sorted keys: equal purchases give equal bytes.
    func body() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Body(self))
    }

    private struct Body: Encodable {
        var customerEmail: String
        var offerId: String
        var receipt: [String: String]?
        var order: Order?
        var appType: String?
        var couponCode: String?
        var applicationUsername: String?
        var cleengCustomerId: Int?

        init(_ purchase: Purchase) {
            customerEmail = purchase.email
            offerId = purchase.offer
            couponCode = purchase.coupon
            applicationUsername = purchase.applicationUsername
            switch purchase.proof {
            case .signedTransaction(let text, let transactionID):
                receipt = ["transactionId": transactionID, "receiptData": text]
            case .appReceipt(let data, let transactionID):
                receipt = ["transactionId": transactionID, "receiptData": data.base64EncodedString()]
            case .googlePlay(let productID, let purchaseToken, let packageName, let orderID):
                var fields = ["productId": productID, "purchaseToken": purchaseToken, "packageName": packageName]
                fields["orderId"] = orderID
                receipt = fields
                cleengCustomerId = purchase.cleengCustomerID
                return
            case .amazon(let receiptID, let userID):
                receipt = ["receiptId": receiptID, "userId": userID]
                return
            case .roku(let bought):
                order = Order(bought)
                return
            }
            appType = purchase.appType.rawValue
            cleengCustomerId = purchase.cleengCustomerID
        }
    }
    private struct Order: Encodable {
        var amount: Proof.Order.Value?
        var code: String
        var purchaseId: String
        var qty: Int?
        var total: Proof.Order.Value?

        init(_ order: Proof.Order) {
            (amount, code, purchaseId) = (order.amount, order.code, order.purchaseID)
            (qty, total) = (order.quantity, order.total)
        }
    }
}

extension Proof.Order.Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        }
    }
}
