public import Formats

/// Writes purchases for publishers' back ends (Fovea). Written by hand, since requests for customers with fifty
/// purchases are as frequent as polls. Omits fields that do not apply. Dates are UTC; their milliseconds are always
/// zero, since receivers compare dates as text.
public enum PurchaseJSON {
    /// `{"applicationUsername":…,"purchases":{…}}`, in UTF-8.
    ///
    /// - Parameter purchases: one of each product.
    public static func customer(_ username: Username, _ purchases: [CustomerPurchase]) -> [UInt8] {
        var writer = JSONWriter(capacity: 64 + 420 * purchases.count)
        writer.beginObject()
        writer.member("applicationUsername", username)
        writer.name("purchases")
        write(purchases, into: &writer)
        writer.endObject()
        return writer.bytes
    }

    /// Writes the map alone: `{"apple:PRODUCT":{…}}`.
    public static func write(_ purchases: [CustomerPurchase], into writer: inout JSONWriter) {
        writer.beginObject()
        for purchase in purchases {
            writer.name(purchase.platform.prefixed(purchase.productID))
            write(purchase, into: &writer)
        }
        writer.endObject()
    }

    private static func write(_ purchase: CustomerPurchase, into writer: inout JSONWriter) {
        let platform = purchase.platform
        writer.beginObject()
        writer.member("productId", platform.prefixed(purchase.productID))
        writer.member("purchaseId", platform.prefixed(purchase.purchaseID))
        writer.member("transactionId", platform.prefixed(purchase.transactionID))
        writer.member("platform", platform.rawValue)
        writer.member("sandbox", purchase.isSandbox)
        writer.member("purchaseDate", second: purchase.purchasedAt)
        writer.member("expirationDate", second: purchase.expiresAt)
        writer.member("isExpired", purchase.isExpired)
        writer.member("renewalIntent", purchase.renewalIntent?.rawValue)
        writer.member("renewalIntentChangeDate", second: purchase.renewalIntentChangedAt)
        writer.member("cancelationReason", purchase.cancelationReason?.rawValue)
        writer.member("isBillingRetryPeriod", purchase.isBillingRetry)
        writer.member("isTrialPeriod", purchase.isTrial)
        writer.member("isIntroPeriod", purchase.isIntro)
        writer.member("discountId", purchase.discountID)
        writer.member("priceConsentStatus", purchase.priceConsent?.rawValue)
        writer.endObject()
    }
}
