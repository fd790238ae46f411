import Formats
import Hummingbird
import Relay
import RelayCore

/// Pages of keys and the audit log.
enum RecordViews {
    static func keys(_ visit: ConsoleVisit) async throws -> Response {
        let keys = Array(try await visit.store.keys.list(includingRevoked: true, in: visit.scope).reversed())
        let table = Table(
            keys, APIKey.columns("id", "name", "role", "publisher", "app", "createdAt", "revokedAt"),
            labels: ["id": "Key", "createdAt": "Made", "revokedAt": "State"], empty: "There is no key.",
            acts: (
                "Revoke",
                { one in
                    guard visit.isOperator, one.revokedAt == nil else { return nil }
                    return (title: "Revoke", href: ConsoleAction.revokeKey.path(one.id.text))
                }
            )
        ) { name, one, text in
            switch name {
            case "id":
                .init(text, isCode: true, note: one.id == visit.session.key.id ? "you are signed in with it" : nil)
            case "revokedAt":
                one.revokedAt == nil ? .init("in use", tone: .ok) : .init("revoked", tone: .quiet, note: text)
            default: .init(text)
            }
        }
        return visit.response(
            ListPage(
                visit.frame("Keys", at: .keys),
                lead: "Newest first; never the secrets. The command receipt-relay keys create makes one.",
                table: table, here: Section.keys.path))
    }

    static let audit = ConsoleList<AuditRecord>(
        section: .audit, path: Section.audit.path, title: "Audit log", lead: "Who did what by hand, newest first.",
        filters: [
            .init("action", "Action", of: AuditEntry.Action.allCases.map(\.rawValue)),
            .init("actor", "Who (part of the name)"), .init("target", "To what (exactly)"),
        ], list: .audit, file: "audit-log"
    ) { items, _ in
        Table(
            items, AuditRecord.columns("at", "actor", "action", "target", "reason"),
            empty: "Nothing is written that is like that."
        ) { name, one, text in
            guard name == "target" else { return .init(text) }
            return .init(text, href: ValidationID(one.target.value).map(ConsoleLink.validation), isCode: true)
        }
    }
}

/// The page of the catalogue, and of purchases whose product does not belong to their offer.
enum OfferView {
    private static let most = 500

    static func show(_ visit: ConsoleVisit) async throws -> Response {
        async let unmapped = visit.store.offers.unmapped(in: visit.scope)
        let offers = try await visit.store.offers.list(in: visit.scope)
        let missing = try await unmapped
        let rows = missing.map(row) + offers.map(row)
        let more = rows.count > most ? " The first \(most) of \(rows.count) are shown." : ""
        return visit.response(
            ListPage(
                visit.frame("Offers", at: .offers),
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
