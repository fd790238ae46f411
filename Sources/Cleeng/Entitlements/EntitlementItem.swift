/// One entitlement as Cleeng lists it. Only the offer has to be there.
struct EntitlementItem: Decodable, Equatable {
    private static let maximumText = 200

    var offerId: String
    var status: String?
    /// Seconds since 1970.
    var expiresAt: Int64?

    private enum Keys: String, CodingKey {
        case offerId, status, expiresAt
    }

    init(offerId: String, status: String?, expiresAt: Int64? = nil) {
        self.offerId = offerId
        self.status = status
        self.expiresAt = expiresAt
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        offerId = String(try container.decode(String.self, forKey: .offerId).prefix(Self.maximumText))
        status = (try? container.decode(String.self, forKey: .status)).map { String($0.prefix(Self.maximumText)) }
        expiresAt =
            (try? container.decode(Double.self, forKey: .expiresAt)).flatMap(Expiry.seconds)
            ?? (try? container.decode(String.self, forKey: .expiresAt)).flatMap(Expiry.seconds)
    }

    /// Access follows the status and never `expiresAt`, which lies in the past during a grace period. `cancelled` will not
    /// be renewed and runs to its end; a word that nobody knows opens nothing.
    var isEntitling: Bool {
        switch status?.lowercased() {
        case "active", "cancelled": true
        default: false
        }
    }

    /// Whether this is the offer asked for; without a country (`S123456789`) any country's is.
    func matches(_ offer: String) -> Bool {
        guard offerId != offer else { return true }
        guard !offer.utf8.contains(UInt8(ascii: "_")) else { return false }
        return offerId.utf8.starts(with: "\(offer)_".utf8)
    }
}
