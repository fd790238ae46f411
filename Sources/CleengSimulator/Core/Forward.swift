/// What a payment call is about, as far as order and overlap are concerned.
struct Forward: Sendable, Equatable {
    /// The original transaction id of the receipt.
    let subscriptionKey: String
    /// Email, offer and receipt together.
    let purchaseKey: String

    var keys: [String] { [subscriptionKey, purchaseKey] }

    init(_ payment: Payment) {
        subscriptionKey = "s:" + payment.subscription
        purchaseKey = "p:\(payment.email.text)|\(payment.offerId.text)|\(payment.receipt.sha256)"
    }
}
