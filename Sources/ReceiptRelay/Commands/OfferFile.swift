import Foundation
import RelayCore
import RelayStore
import Yams

/// Offers as a publisher writes them down, in YAML or JSON:
///
///     offers:
///       - offerId: S598742062_US
///         name: Monthly
///         products: [com.example.month, "google:month"]
///         coupons: [{code: SUMMER, campaign: Summer 2026}, WINTER]
struct OfferFile {
    struct Malformed: Error, CustomStringConvertible {
        let description: String
    }

    static let mostOffers = 50_000
    let offers: [Offer]

    init(_ text: String) throws {
        let loaded: Any?
        do {
            loaded = try Yams.load(yaml: text)
        } catch {
            throw Malformed(description: "it is neither YAML nor JSON")
        }
        guard let list = (loaded as? [String: Any])?["offers"] as? [Any] else {
            throw Malformed(description: "it must hold a list named offers")
        }
        guard list.count <= Self.mostOffers else {
            throw Malformed(description: "it has over \(Self.mostOffers) offers")
        }
        offers = try list.enumerated().map { try Self.offer($1, "offers[\($0)]") }
        let ids = offers.map(\.id)
        guard Set(ids).count == ids.count else { throw Malformed(description: "an offer is there twice") }
    }

    private static func offer(_ any: Any, _ place: String) throws -> Offer {
        guard let fields = any as? [String: Any], let id = fields["offerId"] as? String else {
            throw Malformed(description: "\(place) has no offerId")
        }
        guard isID(id) else { throw Malformed(description: "\(place).offerId must be of letters, digits, _, - and .") }
        let known: Set = ["offerId", "name", "products", "coupons"]
        if let unknown = fields.keys.first(where: { !known.contains($0) }) {
            throw Malformed(description: "\(place).\(unknown) is not known")
        }
        let products = try texts(fields["products"], "\(place).products").map { text in
            guard let product = product(text) else {
                throw Malformed(
                    description:
                        "\(place).products: each is an id of at most 255 characters, with google: or amazon: before it where it is not Apple's"
                )
            }
            return product
        }
        let coupons = try ((fields["coupons"] ?? []) as? [Any]).map { list in
            try list.map { try coupon($0, "\(place).coupons") }
        }
        guard let coupons else { throw Malformed(description: "\(place).coupons must be a list") }
        return Offer(
            id: OfferID(id), name: fields["name"] as? String ?? "", products: products.map { ProductID($0) },
            coupons: coupons)
    }

    private static func texts(_ any: Any?, _ place: String) throws -> [String] {
        guard let any else { return [] }
        guard let texts = any as? [String] else { throw Malformed(description: "\(place) must be a list of texts") }
        return texts
    }

    private static func coupon(_ any: Any, _ place: String) throws -> Offer.Coupon {
        let fields = any as? [String: Any]
        guard let code = any as? String ?? fields?["code"] as? String, !code.isEmpty, code.utf8.count <= 160 else {
            throw Malformed(description: "\(place): each is a code, or has one")
        }
        return Offer.Coupon(code: CouponID(code), campaign: fields?["campaign"] as? String ?? "")
    }

    /// With the store before it; Apple's where none is named. Nil for what is none.
    static func product(_ text: String) -> String? {
        guard !text.isEmpty, text.utf8.count <= 255, !text.hasControlCharacters else { return nil }
        let isPrefixed = ["apple:", "google:", "amazon:"].contains {
            text.hasBytes(first: $0) && text.utf8.count > $0.utf8.count
        }
        return isPrefixed ? text : "apple:" + text
    }

    static func isID(_ text: String) -> Bool { text.wholeMatch(of: /[A-Za-z0-9_.-]{1,100}/) != nil }
}
