import ConsolePages
import Formats
import Hummingbird
import RelayCore
import RelayStore

/// Validations: the list, those that wait, those parked, and one with its timeline.
enum ValidationViews {
    static func list(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        try await list(
            desk, request, visitor, at: .validations, path: Section.validations.path, title: "Validations",
            lead: nil, selection: .all, empty: "No validation is like that.")
    }

    static func waiting(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        try await list(
            desk, request, visitor, at: .validations, path: "/console/waiting", title: "Not taken by Cleeng",
            lead:
                "Each is sent by itself as soon as Cleeng takes it, also after the app has been told to give up.",
            selection: ConsoleQuery(request)["order"] == "newest" ? .waitingNewest : .waiting,
            empty: "Nothing waits: Cleeng has taken every purchase.")
    }

    static func parked(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        try await list(
            desk, request, visitor, at: .parked, path: Section.parked.path, title: "Parked",
            lead:
                "What no worker could make sense of or get through with. Its neighbours go on. Mend what the reason names, then retry.",
            selection: .parked, empty: "Nothing is parked.")
    }

    private static func list(
        _ desk: ConsoleDesk, _ request: Request, _ visitor: ConsoleDesk.Visitor, at section: Section, path: String,
        title: String, lead: String?, selection: ValidationFilter.Selection, empty: String
    ) async throws -> Response {
        let query = ConsoleQuery(request)
        let names = [
            "order", "status", "customerEmail", "offerId", "originalTransactionId", "olderThanSeconds",
        ]
        if ConsoleExport.isWanted(query) {
            return try await ConsoleExport.response(
                path.split(separator: "/").last.map(String.init) ?? "", query.all(names)
            ) {
                var filter = try ValidationFilter($0)
                filter.selection = selection
                let (items, next) = try await desk.store.validations(matching: filter, in: visitor.scope)
                return (table(items, now: nil, empty: "", isWhole: true), items.count, next?.description)
            }
        }
        var (items, next): ([ListedValidation], ValidationCursor?) = ([], nil)
        let wrong = try await query.reading {
            var filter = try ValidationFilter($0)
            filter.selection = selection
            (items, next) = try await desk.store.validations(matching: filter, in: visitor.scope)
        }
        var frame = desk.frame(title, visitor, at: section, live: query["cursor"] == nil ? 5 : nil)
        var (lead, orders): (String?, [ListPage.Filter]) = (lead, [])
        if selection == .waiting || selection == .waitingNewest {
            let summary = try await desk.summary(visitor)
            frame.alert = Diagnosis(summary).alert
            lead = "\(summary.backlog.forwarding) in all. \(lead ?? "")"
            let choices = [(value: "oldest", title: "oldest first"), (value: "newest", title: "newest first")]
            orders = [.init("order", "Order", value: query["order"] ?? "oldest", of: choices)]
        }
        if frame.alert == nil, items.contains(where: { $0.validation.status == .pending }) {
            frame.alert = try await desk.alert(visitor)
        }
        let statuses = ValidationStatus.allCases.map { (value: $0.name, title: $0.name) }
        return desk.response(
            ListPage(
                frame, lead: lead,
                filters: orders + [
                    .init("status", "Status", value: query["status"], of: statuses),
                    .init("customerEmail", "Email", value: query["customerEmail"]),
                    .init("offerId", "Offer", value: query["offerId"]),
                    .init("originalTransactionId", "Original transaction", value: query["originalTransactionId"]),
                    .init("olderThanSeconds", "At least so many seconds old", value: query["olderThanSeconds"]),
                ], wrong: wrong,
                table: table(items, now: desk.store.clock.now, empty: empty, isSelectable: visitor.isOperator),
                here: path,
                first: query["cursor"] == nil ? nil : path,
                next: ConsoleLink.page(
                    path, query.all(names), cursor: next), export: ConsoleExport.path(path, query.all(names)),
                picks: ConsoleSelection.picks([.retry, .abandon], visitor)))
    }

    /// - Parameters:
    ///   - now: ages are told from there; nil: none are.
    ///   - isWhole: with its reasons where there are none, too.
    static func table(
        _ items: [ListedValidation], now: Timestamp?, empty: String, isSelectable: Bool = false, isWhole: Bool = false
    ) -> Table {
        // Of what waits there is none yet.
        let hasReasons = isWhole || items.contains { $0.validation.reason != nil || $0.parking != nil }
        return Table(
            ["Validation", "Status", "Accepted", "Customer", "Offer", "Publisher"] + (hasReasons ? ["Reason"] : []),
            items.map { item in
                let one = item.validation
                let age = now.map { "\(($0 - one.acceptedAt).spoken) ago" }
                let isOpen = one.status.allowsRetry || one.status.allowsAbandon || item.parking != nil
                let pick = isSelectable && isOpen ? "\(one.id)" : nil
                return [
                    .init("\(one.id)", href: ConsoleLink.validation(one.id), isCode: true, pick: pick),
                    .init(one.status.name, tone: ConsoleText.tone(one.status), note: one.late ? "late" : nil),
                    .init(ConsoleText.time(one.acceptedAt), note: age),
                    .init(one.email.text, href: ConsoleLink.customer(one.email)), .init(one.offerID.text),
                    .init(one.publisher.text),
                    .init(one.reason, note: item.parking.map { "parked: \($0.reason)" }),
                ]
            }, empty: empty)
    }

    // MARK: One

    static func detail(
        _ desk: ConsoleDesk, _ request: Request, _ context: FrontContext, _ visitor: ConsoleDesk.Visitor
    ) async throws -> Response {
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }),
            let detail = try await desk.store.detail(id, in: visitor.scope)
        else { throw Problem(.unknownValidation, "nothing is known by this id") }
        context.notes.validation = id
        let one = detail.validation
        var frame = desk.frame("Validation \(id)", visitor, at: .validations, live: one.status == .pending ? 2 : 10)
        frame.notice = ConsoleAction.notice(ConsoleQuery(request)["done"])
        if detail.nextStepAt != nil || one.status == .pending { frame.alert = try await desk.alert(visitor) }
        let now = desk.store.clock.now ?? one.acceptedAt
        return desk.response(
            DetailPage(
                frame, state: one.status.name, tone: ConsoleText.tone(one.status), lead: meaning(detail),
                actions: visitor.isOperator ? actions(detail) : [],
                axis: ValidationTimeline.axis(detail, now: now),
                facts: facts(detail, now: now, isAlarmed: frame.alert != nil), sections: parts(detail)))
    }

    private static func meaning(_ detail: ValidationDetail) -> String {
        let isSent = detail.timeline.contains { $0.event.kind == .forwarded }
        return ConsoleText.meaning(
            detail.validation, isPursued: detail.nextStepAt != nil && detail.parking == nil, isSent: isSent)
    }

    private static func actions(_ detail: ValidationDetail) -> [DetailPage.Action] {
        let (status, path) = (detail.validation.status, ConsoleLink.validation(detail.validation.id))
        var actions: [DetailPage.Action] = []
        if status.allowsRetry { actions.append(.init("Retry", href: path + "/retry")) }
        if status.allowsAbandon || detail.parking != nil {
            actions.append(.init("Abandon", href: path + "/abandon", isGrave: true))
        }
        return actions
    }

    private static func facts(
        _ detail: ValidationDetail, now: Timestamp, isAlarmed: Bool
    ) -> [DetailPage.Fact] {
        let one = detail.validation
        var facts: [DetailPage.Fact] = [
            .init("Customer", one.email.text, href: ConsoleLink.customer(one.email)), .init("Offer", one.offerID.text),
            .init("Publisher", one.publisher.text), .init("App", one.app.text), .init("Sold in", detail.appType),
            .init("Reason", one.reason), .init("Accepted", ConsoleText.time(one.acceptedAt)),
            .init("Deadline of the app", ConsoleText.time(one.deadline)),
            .init(one.status == .timedOut ? "App was told to give up" : "Settled", ConsoleText.time(one.settledAt)),
            .init("Access until", ConsoleText.time(one.expiresAt)),
            .init("Tries to send it", "\(detail.attempts)"),
            .init("Had access before", detail.entitledBefore.map { $0 ? "yes" : "no" }),
            .init(
                "Original transaction", detail.originalTransactionID.text,
                href: "/console/search?q=" + detail.originalTransactionID.text.percentEncoded),
            .init("Transaction", detail.transactionID.text), .init("Environment", detail.environment.text),
            .init("Product", detail.productID?.text), .init("Bundle", detail.bundleID?.text),
            .init("Application username", detail.applicationUsername.text), .init("Coupon", detail.couponCode?.text),
            .init("Sent to Cleeng as", ConsoleText.driver(detail.driver)), .init("Receipt", verification(detail)),
        ]
        if let trace = detail.traceID { facts.append(.init("Trace", trace)) }
        if let parking = detail.parking {
            facts.insert(.init("Parked since \(ConsoleText.time(parking.since))", parking.reason), at: 0)
        }
        if let next = detail.nextStepAt, detail.parking == nil {
            facts.append(.init("Next step", step(next, owner: detail.leaseOwner, now: now, isAlarmed: isAlarmed)))
        }
        return facts
    }

    /// When it goes on, or why it does not.
    private static func step(_ next: Timestamp, owner: String?, now: Timestamp, isAlarmed: Bool) -> String {
        if let owner { return "under way, by \(owner)" }
        if next > now { return "at \(ConsoleText.time(next))" }
        let since = "due since \(ConsoleText.time(next))"
        return isAlarmed ? "held back, for the reason above; \(since)" : "\(since): a worker takes it up in a moment"
    }

    private static func verification(_ detail: ValidationDetail) -> String {
        guard detail.isReceiptReadable else { return "cannot be read here: Cleeng decides" }
        let judged = [detail.verification.result.name, detail.verification.code, detail.verification.detail]
        return judged.compactMap(\.self).joined(separator: ", ")
    }

    private static func parts(_ detail: ValidationDetail) -> [DetailPage.Part] {
        var parts: [DetailPage.Part] = []
        if let transfer = detail.transfer {
            parts.append(
                .init(
                    "Transfer",
                    table: Table(
                        ["At", "From", "To", "Taken from", "Given to"],
                        [
                            [
                                .init(ConsoleText.time(transfer.at)),
                                .init(transfer.from.text, href: ConsoleLink.customer(transfer.from)),
                                .init(transfer.to.text, href: ConsoleLink.customer(transfer.to)),
                                .init(
                                    "\(transfer.fromValidation)", href: ConsoleLink.validation(transfer.fromValidation),
                                    isCode: true),
                                .init(
                                    "\(transfer.toValidation)", href: ConsoleLink.validation(transfer.toValidation),
                                    isCode: true),
                            ]
                        ], empty: "")))
        }
        parts.append(.init("Timeline", table: ValidationTimeline.table(detail)))
        if let evidence = detail.evidence { parts.append(.init("What the grant rests on", text: evidence)) }
        return parts
    }
}
