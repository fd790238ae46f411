import NIOCore

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
