import ConsolePages
import Formats
import Hummingbird
import RelayCore
import RelayStore

/// What is sold as what, and what was bought under an offer that does not have it.
enum OfferView {
    private static let most = 500

    static func show(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        async let unmapped = desk.store.unmappedOffers(in: visitor.scope)
        let offers = try await desk.store.offers(in: visitor.scope)
        let missing = try await unmapped
        let rows = missing.map(row) + offers.map(row)
        let more = rows.count > most ? " The first \(most) of \(rows.count) are shown." : ""
        return desk.response(
            ListPage(
                desk.frame("Offers", visitor, at: .offers),
                lead:
                    "\(missing.count) of what the newest 10,000 purchases name is not mapped, and stands first. Such a purchase goes on all the same; a validated one goes to Cleeng only where its product is an offer's. The command receipt-relay offers add --offer OFFER --product PRODUCT maps one.\(more)",
                table: Table(
                    ["Offer", "Publisher", "Product", "State", "Purchases", "Coupons"], Array(rows.prefix(most)),
                    empty: "No offer has been added, and nothing was bought."), here: Section.offers.path))
    }

    private static func row(_ one: UnmappedOffer) -> [Table.Cell] {
        [
            .init(
                one.offerID.text, href: "\(Section.validations.path)?offerId=\(one.offerID.text.percentEncoded)"),
            .init(one.publisher.text), .init(one.product?.text ?? "could not be read", isCode: one.product != nil),
            .init(one.isMapped ? "not a product of the offer" : "the offer has no product", tone: .warning),
            .init("\(one.purchases)"), .init(nil),
        ]
    }

    private static func row(_ publisher: PublisherID, _ one: Offer) -> [Table.Cell] {
        [
            .init(
                one.id.text, href: "\(Section.validations.path)?offerId=\(one.id.text.percentEncoded)",
                note: one.name),
            .init(publisher.text), .init(one.products.map(\.text).joined(separator: ", "), isCode: true),
            one.products.isEmpty ? .init("without a product", tone: .quiet) : .init("mapped", tone: .ok), .init(nil),
            .init(one.coupons.map(\.code.text).joined(separator: ", ")),
        ]
    }
}
