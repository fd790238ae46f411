import Formats
import Hummingbird
import RelayCore
import RelayStore

/// `GET /ops/offers`: what is sold as what, and what the newest purchases name that is not.
struct OfferOpsRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator

    var routes: [Route] { [.get("/ops/offers", list)] }

    private func list(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        async let unmapped = store.unmappedOffers(in: scope)
        let offers = try await store.offers(in: scope)
        var writer = JSONWriter(capacity: 4_096)
        writer.beginObject()
        writer.beginArray("items")
        for (publisher, offer) in offers {
            writer.beginObject()
            writer.field("publisher", publisher)
            writer.field("offerId", offer.id)
            writer.field("name", offer.name)
            writer.beginArray("products")
            for product in offer.products { writer.value(product) }
            writer.endArray()
            writer.beginArray("coupons")
            for coupon in offer.coupons { writer.value(coupon.code) }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        writer.beginArray("unmapped")
        for offer in try await unmapped {
            writer.beginObject()
            writer.field("publisher", offer.publisher)
            writer.field("offerId", offer.offerID)
            writer.field("product", offer.product)
            writer.field("purchases", offer.purchases)
            writer.field("problem", offer.isMapped ? "product_mismatch" : "offer_without_products")
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return .json(writer)
    }
}
