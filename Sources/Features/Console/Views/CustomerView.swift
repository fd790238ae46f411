import Formats
import Hummingbird
import Relay
import RelayCore

/// The page of one customer: purchases, subscriptions and transfers.
enum CustomerView {
    private static let most = 20

    static func show(_ visit: ConsoleVisit) async throws -> Response {
        guard let text = visit.query["email"] else { return visit.response(form(visit, nil, wrong: nil)) }
        let customer = CustomerEmail(text)?.customer ?? CustomerID(text.asciiLowercased())
        let store = visit.store
        async let validations = store.ops.validations(
            matching: ValidationFilter(customer: customer, limit: most), in: visit.scope)
        async let subscriptions = store.ops.subscriptions(
            matching: SubscriptionFilter(customer: customer, limit: most), in: visit.scope)
        async let transfers = store.ops.transfers(
            matching: TransferFilter(customer: customer, limit: most), in: visit.scope)
        let (bought, owned, moved) = (
            try await validations.items, try await subscriptions.items, try await transfers.items
        )
        var publishers = Set(bought.map(\.validation.publisher) + owned.map(\.name.publisher)).sorted()
        if bought.isEmpty && owned.isEmpty && moved.isEmpty {
            guard visit.isOperator, CustomerEmail(text) != nil else {
                return visit.response(form(visit, EmailAddress(text), wrong: "Nothing is known of \(text)."))
            }
            // Unknown here, but Cleeng may know the customer.
            publishers = try await store.publishers.list(in: visit.scope).prefix(10).map(\.id)
        }
        var frame = visit.frame(text, at: .customers, live: 5)
        let isGranted =
            bought.contains { $0.validation.status == .granted }
            || owned.contains { [.active, .inGrace].contains($0.status) }
        let isPending = bought.contains { $0.validation.status == .pending }
        let (state, tone): (String, Tone) =
            isGranted ? ("has access", .ok) : isPending ? ("pending", .link) : ("no access", .warning)
        if bought.contains(where: { [.pending, .timedOut].contains($0.validation.status) }) {
            frame.alert = try await visit.alert()
        }
        var actions: [DetailPage.Action] = []
        if visit.isOperator {
            func add(
                _ action: ConsoleAction, _ label: String, for names: [CustomerName], _ detail: (CustomerName) -> String
            ) {
                actions += names.map { name in
                    DetailPage.Action(
                        names.count == 1 ? label : "\(label), \(detail(name))",
                        href: action.path(ResyncTarget(publisher: name.publisher, username: name.username).id))
                }
            }
            let asked = publishers.map { CustomerName(publisher: $0, username: Username(text)) }
            add(.refresh, "Ask Cleeng now", for: asked) { $0.publisher.text }
            // Endpoints know the customer by the publisher's own names.
            add(.resync, "Tell endpoints again", for: try await names(of: text, visit)) {
                "\($0.username) of \($0.publisher)"
            }
        }
        return visit.response(
            DetailPage(
                frame, state: state, tone: tone,
                lead: "by the relay's records. Names that differ in case are one customer.",
                actions: actions,
                facts: [
                    .init("Publishers", publishers.map(\.text).joined(separator: ", ")),
                    .init("First seen of these", ConsoleText.time(bought.last?.validation.acceptedAt)),
                    .init("Last purchase", ConsoleText.time(bought.first?.validation.acceptedAt)),
                ],
                sections: [
                    .init(
                        "Purchases, newest first",
                        table: ValidationViews.table(bought, now: store.memory.clock.now, empty: "None.")),
                    .init("Subscriptions", table: SubscriptionViews.table(owned)),
                    .init("Transfers", table: SubscriptionViews.table(moved)),
                ]))
    }

    /// The publishers' own names for the customer with this email, a few of them.
    private static func names(of text: String, _ visit: ConsoleVisit) async throws -> [CustomerName] {
        guard CustomerEmail(text) != nil else { return [] }
        let identity = try await visit.store.customers.identity(of: text)
        return Array((identity.names + identity.sharedNames).filter { visit.scope.contains($0.publisher) }.prefix(most))
    }

    private static func form(_ visit: ConsoleVisit, _ email: EmailAddress?, wrong: String?) -> ListPage {
        ListPage(
            visit.frame("Customers", at: .customers), lead: "One customer, by email.",
            filters: [.init("email", "Email", value: email?.text)], wrong: wrong,
            table: Table(["Customer"], [], empty: "Ask for a customer by email, or follow one from a purchase."),
            here: Section.customers.path)
    }
}

/// `/console/search`: finds the page for an id, an email or a transaction.
enum SearchView {
    static func show(_ visit: ConsoleVisit) async throws -> Response {
        guard let text = visit.query["q"] else { return ConsoleContext.redirect("/") }
        if let id = ValidationID(text), try await visit.store.purchases.validation(id, in: visit.scope) != nil {
            return ConsoleContext.redirect(ConsoleLink.validation(id))
        }
        if text.hasByte("@") { return ConsoleContext.redirect(ConsoleLink.customer(EmailAddress(text))) }
        // A purchase without a grant belongs to no subscription yet.
        let known = try await visit.store.ops.subscriptions(
            matching: SubscriptionFilter(originalTransactionID: TransactionID(text), limit: 1), in: visit.scope)
        guard known.items.isEmpty else { return ConsoleContext.redirect(ConsoleLink.subscription(TransactionID(text))) }
        let bought = try await visit.store.ops.validations(
            matching: ValidationFilter(originalTransactionID: TransactionID(text), limit: 2), in: visit.scope
        ).items
        if bought.count == 1 { return ConsoleContext.redirect(ConsoleLink.validation(bought[0].id)) }
        return ConsoleContext.redirect(
            Section.validations.path + "?originalTransactionId=" + text.percentEncoded)
    }
}
