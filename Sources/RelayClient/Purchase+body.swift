import Foundation

extension Purchase {
    var path: String {
        switch proof {
        case .signedTransaction, .appReceipt: "apple/payment"
        case .googlePlay: "android/payment"
        case .amazon: "amazon/payment"
        }
    }

    /// The same bytes for the same purchase.
    func body() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(Body(self))
    }

    private struct Body: Encodable {
        var customerEmail: String
        var offerId: String
        var receipt: [String: String]
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
                receipt = ["productId": productID, "purchaseToken": purchaseToken, "packageName": packageName]
                receipt["orderId"] = orderID
                return
            case .amazon(let receiptID, let userID):
                receipt = ["receiptId": receiptID, "userId": userID]
                return
            }
            appType = purchase.appType.rawValue
            cleengCustomerId = purchase.cleengCustomerID
        }
    }
}
