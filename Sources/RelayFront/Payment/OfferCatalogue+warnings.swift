import RelayCore
import RelayStore

extension OfferCatalogue {
    /// What does not fit a purchase's offer, so far as the offers are known. Reported and shown, never refused: Cleeng decides.
    func warnings(_ payment: PaymentRequest, _ receipt: ReadReceipt, of publisher: PublisherID) -> [FieldError] {
        var warnings: [FieldError] = []
        if let product = receipt.productID,
            allows(ProductID(StorePlatform.apple.prefixed(product)), under: payment.offerID, of: publisher) == false
        {
            warnings.append(.productMismatch(product.text))
        }
        if let coupon = payment.couponCode, allows(coupon: coupon, under: payment.offerID, of: publisher) == false {
            warnings.append(
                FieldError(
                    "couponCode", .unknown, "the coupon is not one of this offer's; the purchase goes on with it"))
        }
        return warnings
    }
}

extension FieldError {
    static func productMismatch(_ product: String) -> FieldError {
        FieldError(
            "offerId", .mismatch,
            "the receipt is of the product \(product), which is not one of this offer's; the purchase goes on")
    }
}
