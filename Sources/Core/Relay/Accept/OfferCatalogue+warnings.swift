import HTTPServer
import RelayCore

extension OfferCatalogue {
    /// Warnings about a purchase that does not match its offer in the catalogue. Such a purchase is never refused:
    /// Cleeng decides.
    func warnings(_ request: PurchaseRequest, _ receipt: ReadReceipt, of publisher: PublisherID) -> [FieldError] {
        var warnings: [FieldError] = []
        let isApple = receipt.platform == .apple
        if let product = receipt.productID {
            let plan = receipt.periods.first { $0.productID == product }?.planID
            let name = name(of: product, plan: plan, at: receipt.platform, of: publisher)
            if allows(name, under: request.offerID, of: publisher) == false {
                warnings.append(.productMismatch(isApple ? product.text : name.text))
            }
        }
        if isApple, let coupon = request.couponCode,
            allows(coupon: coupon, under: request.offerID, of: publisher) == false
        {
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
