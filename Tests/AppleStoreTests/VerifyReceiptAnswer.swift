/// The compared part of Apple's verifyReceipt answer, with Apple's names in camel case.
struct VerifyReceiptAnswer: Decodable {
    let receipt: Receipt

    struct Receipt: Decodable {
        let receiptType: String
        let adamId: Int64
        let receiptCreationDateMs: String
        let originalPurchaseDateMs: String
        let inApp: [Purchase]
    }

    struct Purchase: Decodable {
        let quantity: String
        let productId: String
        let transactionId: String
        let originalTransactionId: String
        let purchaseDateMs: String
        let originalPurchaseDateMs: String
        let expiresDateMs: String
        let webOrderLineItemId: String
        let isTrialPeriod: String
        let isInIntroOfferPeriod: String
    }
}
