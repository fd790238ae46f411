/// What a call that passes on a purchase is about, as far as order and overlap are concerned.
struct Forward: Sendable, Equatable {
    /// The original transaction id.
    let subscriptionKey: String
    /// Email, offer and receipt together; of StoreKit 2, customer and transaction.
    let purchaseKey: String

    var keys: [String] { [subscriptionKey, purchaseKey] }

    init(_ payment: Payment) {
        subscriptionKey = "s:" + payment.subscription
        purchaseKey = "p:\(payment.email.text)|\(payment.offerId.text)|\(payment.receipt.sha256)"
    }

    init(_ request: SynchronizationRequest, originalTransactionId: String) {
        subscriptionKey = "s:" + originalTransactionId
        purchaseKey = "t:\(request.customerId)|\(request.transactionId)"
    }
}
