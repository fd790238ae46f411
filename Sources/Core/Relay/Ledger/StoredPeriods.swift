import Formats
import RelayCore

/// Column `period` of a validation: the first period as its members, and the others in one more member, which the
/// versions before do not read.
private struct StoredPeriods: Decodable {
    var all: [LedgerPeriod]

    private enum CodingKeys: CodingKey { case others }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let others = try members.decodeIfPresent([LedgerPeriod].self, forKey: .others)
        all = try [LedgerPeriod(from: decoder)] + (others ?? [])
    }
}

extension [LedgerPeriod] {
    /// Decodes the periods that a receipt states.
    ///
    /// - Parameter text: column `period` of a validation; nil if there is none.
    /// - Throws: ``StoreError`` if this version cannot read it.
    init(stored text: String?) throws {
        self = []
        guard let text else { return }
        self = try LedgerJSON.value(StoredPeriods.self, text, column: "validations.period").all
    }

    /// Text for the column; nil if there is no period. It is written by hand: every accepted purchase writes one, and an
    /// encoder would cost more than reading the receipt.
    var json: String? {
        guard let first else { return nil }
        var writer = JSONWriter(capacity: 400 * count)
        writer.beginObject()
        first.write(to: &writer)
        if count > 1 {
            writer.beginArray("others")
            for period in dropFirst() {
                writer.beginObject()
                period.write(to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
        writer.endObject()
        return writer.text
    }
}

extension LedgerPeriod {
    /// Writes the members that ``LedgerJSON/text(_:)`` would write.
    fileprivate func write(to writer: inout JSONWriter) {
        func number(_ moment: Timestamp?) -> Int? { moment.map { Int($0.microseconds) } }
        writer.member("discountID", discountID)
        writer.member("expiresAt", number(expiresAt))
        writer.member("id", id)
        writer.member("isIntro", isIntro)
        writer.member("isTrial", isTrial)
        writer.member("isUpgraded", isUpgraded)
        writer.member("originalPurchasedAt", number(originalPurchasedAt))
        writer.member("planID", planID)
        writer.member("productID", productID)
        writer.member("purchasedAt", number(purchasedAt))
        writer.member("renews", renews)
        writer.member("replacesEarlier", replacesEarlier)
        if let revocation {
            writer.name("revocation")
            writer.beginObject()
            writer.member("at", number(revocation.at))
            writer.member("kind", Int(revocation.kind.rawValue))
            writer.member("reason", revocation.reason?.rawValue)
            writer.endObject()
        }
        if let storeOffer {
            writer.name("storeOffer")
            writer.beginObject()
            writer.member("discountType", storeOffer.discountType)
            writer.member("identifier", storeOffer.identifier)
            writer.member("type", storeOffer.type)
            writer.endObject()
        }
        writer.member("toldAt", number(statedAt))
        writer.member("transactionID", transactionID)
    }
}
