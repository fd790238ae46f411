import NIOCore

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One page of `GET /3.1/entitlements`.
///
/// Cleeng publishes no example, so the list may be `items`, `data`, or `items` within `data` or `responseData`, as in
/// its other lists. An element that is no item is passed over.
struct EntitlementPage: Decodable {
    var items: [EntitlementItem]
    /// Elements of the list, whatever they were: what the next page's offset counts.
    var elementCount: Int
    var totalItemCount: Int?

    private enum Keys: String, CodingKey {
        case items, data, responseData, totalItemCount
    }

    private struct Lenient: Decodable {
        var item: EntitlementItem?

        init(from decoder: any Decoder) throws {
            item = try? EntitlementItem(from: decoder)
        }
    }

    init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: Keys.self)
        let inner =
            // An attempt that fails makes an error with a text: what is not there is not tried.
            [Keys.data, .responseData].lazy.filter(outer.contains)
            .compactMap { try? outer.nestedContainer(keyedBy: Keys.self, forKey: $0) }.first
        let list =
            try (try? outer.decode([Lenient].self, forKey: .items))
            ?? (try? outer.decode([Lenient].self, forKey: .data))
            ?? (try? inner?.decode([Lenient].self, forKey: .items))
            ?? outer.decode([Lenient].self, forKey: .items)
        items = list.compactMap(\.item)
        elementCount = list.count
        totalItemCount =
            (try? outer.decode(Int.self, forKey: .totalItemCount))
            ?? (try? inner?.decode(Int.self, forKey: .totalItemCount))
            ?? (try? outer.decode(String.self, forKey: .totalItemCount)).flatMap { Int($0) }
    }

    /// Nil for a body that is none.
    init?(_ body: ByteBuffer) {
        guard let page = try? JSONDecoder().decode(Self.self, from: Data(body.readableBytesView)) else { return nil }
        self = page
    }
}
