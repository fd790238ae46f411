import Foundation

/// What a store gave the app to prove a purchase.
public enum Proof: Sendable, Hashable {
    /// StoreKit 2: `VerificationResult.jwsRepresentation`, as it is; and `Transaction.id` in digits.
    case signedTransaction(String, transactionID: String)
    /// StoreKit 1: the file at `Bundle.main.appStoreReceiptURL`; and `SKPaymentTransaction.transactionIdentifier`.
    case appReceipt(Data, transactionID: String)
    /// Google Play: of the `Purchase` of its billing library.
    case googlePlay(productID: String, purchaseToken: String, packageName: String, orderID: String? = nil)
    /// Amazon Appstore: of the `Receipt` and the `UserData` of its SDK.
    case amazon(receiptID: String, userID: String)
}
