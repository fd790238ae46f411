import Formats
import RelayCore

extension LedgerPeriod {
    /// The same text as ``LedgerJSON/text(_:)`` makes of it, by hand: every purchase that is taken in writes one, and an encoder
    /// costs more there than reading the receipt.
    var json: String {
        func number(_ moment: Timestamp?) -> Int? { moment.map { Int($0.microseconds) } }
        var writer = JSONWriter(capacity: 400)
        writer.beginObject()
        writer.member("discountID", discountID)
        writer.member("expiresAt", number(expiresAt))
        writer.member("id", id)
        writer.member("isIntro", isIntro)
        writer.member("isTrial", isTrial)
        writer.member("isUpgraded", isUpgraded)
        writer.member("originalPurchasedAt", number(originalPurchasedAt))
        writer.member("productID", productID)
        writer.member("purchasedAt", number(purchasedAt))
        writer.member("replacesEarlier", replacesEarlier)
        if let revocation {
            writer.name("revocation")
            writer.beginObject()
            writer.member("at", number(revocation.at))
            writer.member("kind", Int(revocation.kind.rawValue))
            writer.member("reason", revocation.reason?.rawValue)
            writer.endObject()
        }
        writer.member("toldAt", number(toldAt))
        writer.member("transactionID", transactionID)
        writer.endObject()
        return writer.text
    }
}
