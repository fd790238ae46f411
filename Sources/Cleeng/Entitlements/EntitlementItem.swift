import RelayCore

/// One entitlement as Cleeng lists it. Only the offer has to be there.
struct EntitlementItem: Equatable {
    private static let maximumText = 200

    var offerId: OfferID
    var status: String?
    /// Seconds since 1970.
    var expiresAt: Int64?

    private enum Keys: String, CodingKey {
        case offerId, status, expiresAt
    }
}

extension EntitlementItem: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        offerId = OfferID(Self.bounded(try container.decode(String.self, forKey: .offerId)))
        status = (try? container.decode(String.self, forKey: .status)).map(Self.bounded)
        // A number, a number in a text, or a date of ISO 8601.
        let end =
            (try? container.decode(Double.self, forKey: .expiresAt)).flatMap { Timestamp(external: $0) }
            ?? (try? container.decode(String.self, forKey: .expiresAt)).flatMap { Timestamp(external: $0) }
        expiresAt = end?.secondsSince1970
    }

    private static func bounded(_ text: String) -> String { String(text.unicodeScalars.prefix(maximumText)) }

    /// Access follows the status and never `expiresAt`, which lies in the past during a grace period. `cancelled` will not
    /// be renewed and runs to its end; a word that nobody knows opens nothing.
    var isEntitling: Bool {
        switch status?.lowercased() {
        case "active", "cancelled": true
        default: false
        }
    }

    /// Whether this is the offer asked for; without a country (`S123456789`) any country's is.
    func matches(_ offer: OfferID) -> Bool {
        guard offerId != offer else { return true }
        guard !offer.utf8.contains(UInt8(ascii: "_")) else { return false }
        return offerId.utf8.starts(with: "\(offer)_".utf8)
    }
}
