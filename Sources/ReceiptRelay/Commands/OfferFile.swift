import Formats
import Relay
import RelayCore
import Yams

/// A publisher's offers as a file in YAML or JSON:
///
///     offers:
///       - offerId: S598742062_US
///         name: Monthly
///         products: [com.example.month, "google:month"]
///         coupons: [{code: SUMMER, campaign: Summer 2026}, WINTER]
struct OfferFile {
    struct Malformed: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    static let mostOffers = 50_000
    let offers: [Offer]

    init(_ text: String) throws {
        // Yams only composes nodes here and does not convert values. Its conversion crashes the process on a key that
        // is not a scalar, and on large sexagesimal numbers.
        let file: Node?
        do {
            file = try Yams.compose(yaml: text)
        } catch {
            throw Malformed("it is neither YAML nor JSON")
        }
        guard let list = file?.mapping?["offers"]?.sequence else {
            throw Malformed("it must hold a list named offers")
        }
        guard list.count <= Self.mostOffers else {
            throw Malformed("it has over \(Self.mostOffers) offers")
        }
        offers = try list.enumerated().map { try Self.offer($1, "offers[\($0)]") }
        let ids = offers.map(\.id)
        guard Set(ids).count == ids.count else { throw Malformed("an offer is there twice") }
    }

    private static func offer(_ node: Node, _ place: String) throws -> Offer {
        guard let fields = node.mapping, let id = fields["offerId"]?.scalar?.string else {
            throw Malformed("\(place) has no offerId")
        }
        guard isID(id) else { throw Malformed("\(place).offerId must be of letters, digits, _, - and .") }
        for (key, _) in fields where !["offerId", "name", "products", "coupons"].contains(key.scalar?.string) {
            throw Malformed("\(place).\(key.scalar?.string ?? "(a list or an object)") is not known")
        }
        let products = try list(fields["products"], "\(place).products").map { item in
            guard let product = item.scalar.flatMap({ product($0.string) }) else {
                throw Malformed(
                    "\(place).products: each is an id of at most 255 characters, with \(prefixes) before it where it is not Apple's"
                )
            }
            return product
        }
        let coupons = try list(fields["coupons"], "\(place).coupons").map { try coupon($0, "\(place).coupons") }
        return Offer(
            id: OfferID(id), name: fields["name"]?.scalar?.string ?? "", products: products.map { ProductID($0) },
            coupons: coupons)
    }

    private static func list(_ node: Node?, _ place: String) throws -> [Node] {
        guard let node else { return [] }
        guard let list = node.sequence else { throw Malformed("\(place) must be a list") }
        return Array(list)
    }

    private static func coupon(_ node: Node, _ place: String) throws -> Offer.Coupon {
        let code = node.scalar ?? node.mapping?["code"]?.scalar
        guard let code = code?.string, !code.isEmpty, code.utf8.count <= 160 else {
            throw Malformed("\(place): each is a code, or has one")
        }
        return Offer.Coupon(code: CouponID(code), campaign: node.mapping?["campaign"]?.scalar?.string ?? "")
    }

    /// The prefixes of products of stores other than Apple's, for texts.
    static var prefixes: String { StorePlatform.asked.map { $0.prefixed("") }.joined(separator: ", ") }

    /// The product with the store's prefix, `apple:` if the text has none. Nil if the text is not a product id.
    static func product(_ text: String) -> String? {
        guard !text.isEmpty, text.utf8.count <= 255, !text.hasControlCharacters else { return nil }
        let isPrefixed = StorePlatform.allCases.map { $0.prefixed("") }.contains {
            text.hasBytes(first: $0) && text.utf8.count > $0.utf8.count
        }
        return isPrefixed ? text : "apple:" + text
    }

    static func isID(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9_.-]{1,100}/) != nil }
}
