import RelayCore

/// One entitlement in Cleeng's list. An element without an offer is not one.
struct EntitlementItem: Equatable {
    private static let maximumText = 200

    var offerId: OfferID
    /// Nil if it is missing or not a text.
    var status: String?
    /// Seconds since 1970.
    var expiresAt: Int64?

    private enum Keys: String, CodingKey {
        case offerId, status, expiresAt
    }
}

extension EntitlementItem: Decodable {
    /// - Throws: an error if the offer is missing, not a text, blank, or longer than any offer's id.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let offer = try container.decode(String.self, forKey: .offerId)
        guard !offer.isEmpty, offer.unicodeScalars.count <= Self.maximumText else {
            throw DecodingError.dataCorruptedError(forKey: .offerId, in: container, debugDescription: "no offer")
        }
        offerId = OfferID(offer)
        status = (try? container.decode(String.self, forKey: .status)).map(Self.bounded)
        // A number, a number as text, or an ISO 8601 date.
        let end =
            (try? container.decode(Double.self, forKey: .expiresAt)).flatMap { Timestamp(external: $0) }
            ?? (try? container.decode(String.self, forKey: .expiresAt)).flatMap { Timestamp(external: $0) }
        expiresAt = end?.secondsSince1970
    }

    private static func bounded(_ text: String) -> String { String(text.unicodeScalars.prefix(maximumText)) }

    /// Whether the status gives access. `expiresAt` does not count, since it is in the past during a grace period.
    /// `cancelled` means that access runs to its end and does not renew.
    var isEntitling: Bool {
        switch status?.lowercased() {
        case "active", "cancelled": true
        default: false
        }
    }

    /// Whether the status ends access. An unknown status neither gives nor ends access.
    var hasEnded: Bool { status?.lowercased() == "terminated" }

    /// Whether this is the given offer. An offer without a country (`S123456789`) matches that of any country.
    func matches(_ offer: OfferID) -> Bool {
        guard offerId != offer else { return true }
        guard !offer.utf8.contains(UInt8(ascii: "_")) else { return false }
        return offerId.utf8.starts(with: "\(offer)_".utf8)
    }
}
