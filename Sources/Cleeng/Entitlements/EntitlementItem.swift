import RelayCore

/// One entitlement as Cleeng lists it. An element that names no offer is none.
struct EntitlementItem: Equatable {
    private static let maximumText = 200

    var offerId: OfferID
    /// Nil where it is missing or no text.
    var status: String?
    /// Seconds since 1970.
    var expiresAt: Int64?

    private enum Keys: String, CodingKey {
        case offerId, status, expiresAt
    }
}

extension EntitlementItem: Decodable {
    /// - Throws: where the offer is missing, no text, blank, or longer than any offer's id.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let offer = try container.decode(String.self, forKey: .offerId)
        guard !offer.isEmpty, offer.unicodeScalars.count <= Self.maximumText else {
            throw DecodingError.dataCorruptedError(forKey: .offerId, in: container, debugDescription: "no offer")
        }
        offerId = OfferID(offer)
        status = (try? container.decode(String.self, forKey: .status)).map(Self.bounded)
        // A number, a number in a text, or a date of ISO 8601.
        let end =
            (try? container.decode(Double.self, forKey: .expiresAt)).flatMap { Timestamp(external: $0) }
            ?? (try? container.decode(String.self, forKey: .expiresAt)).flatMap { Timestamp(external: $0) }
        expiresAt = end?.secondsSince1970
    }

    private static func bounded(_ text: String) -> String { String(text.unicodeScalars.prefix(maximumText)) }

    /// Access follows the status and never `expiresAt`, which lies in the past during a grace period. `cancelled` will not
    /// be renewed and runs to its end.
    var isEntitling: Bool {
        switch status?.lowercased() {
        case "active", "cancelled": true
        default: false
        }
    }

    /// Whether the status says that access has ended. An unknown status neither opens nor ends access.
    var hasEnded: Bool { status?.lowercased() == "terminated" }

    /// Whether this is the offer asked for; without a country (`S123456789`) any country's is.
    func matches(_ offer: OfferID) -> Bool {
        guard offerId != offer else { return true }
        guard !offer.utf8.contains(UInt8(ascii: "_")) else { return false }
        return offerId.utf8.starts(with: "\(offer)_".utf8)
    }
}
