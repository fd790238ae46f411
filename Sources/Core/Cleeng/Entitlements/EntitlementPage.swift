import NIOCore
import RelayCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One page of `GET /3.1/entitlements`.
///
/// Cleeng publishes no example. So the list may be `items`, `data`, or `items` within `data` or `responseData`, as in
/// Cleeng's other lists.
struct EntitlementPage {
    /// The elements that name their offer.
    var items: [EntitlementItem]
    /// Number of all elements of the list, for the next page's offset.
    var elementCount: Int
    /// Nil if the page has no total, or it is not a count.
    var totalItemCount: Int?
    /// Whether the whole page is legible: each element names its offer, the total is a count, and the page names no
    /// error.
    var isLegible: Bool

    /// Nil if the body is not a page.
    init?(_ body: ByteBuffer) {
        guard let page = try? JSONDecoder().decode(Self.self, from: Data(body.readableBytesView)) else { return nil }
        self = page
    }
}

extension EntitlementPage: Decodable {
    private enum Keys: String, CodingKey {
        case items, data, responseData, totalItemCount, success, error, errors
    }

    private struct Element: Decodable {
        var item: EntitlementItem?

        init(from decoder: any Decoder) throws {
            item = try? EntitlementItem(from: decoder)
        }
    }

    init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Keys.self)
        var holder = outer
        var key = Keys.items
        if !outer.contains(.items), let wrapper = [Keys.data, .responseData].first(where: outer.contains) {
            if let inner = try? outer.nestedContainer(keyedBy: Keys.self, forKey: wrapper) {
                holder = inner
            } else {
                key = wrapper
            }
        }
        let list = try holder.decode([Element].self, forKey: key)
        items = list.compactMap(\.item)
        elementCount = list.count
        let total = [outer, holder].first { $0.contains(.totalItemCount) }
        totalItemCount = total.flatMap(Self.count)
        isLegible =
            items.count == elementCount && (total == nil || totalItemCount != nil) && !Self.namesError(outer)
    }

    private static func count(_ container: KeyedDecodingContainer<Keys>) -> Int? {
        let count =
            (try? container.decode(Int.self, forKey: .totalItemCount))
            ?? (try? container.decode(String.self, forKey: .totalItemCount)).flatMap { Int($0) }
        return count.flatMap { $0 >= 0 ? $0 : nil }
    }

    /// Whether the page has a `success` other than true, an `error`, or a list of `errors` that is not empty.
    private static func namesError(_ container: KeyedDecodingContainer<Keys>) -> Bool {
        // A failed decoding builds an error with a text, so missing keys are not decoded.
        if container.contains(.success), (try? container.decode(Bool.self, forKey: .success)) != true { return true }
        if container.contains(.error), (try? container.decodeNil(forKey: .error)) != true { return true }
        guard container.contains(.errors), (try? container.decodeNil(forKey: .errors)) != true else { return false }
        return (try? container.nestedUnkeyedContainer(forKey: .errors))?.isAtEnd != true
    }
}

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
