import Formats
import HTTPServer
import Hummingbird
import Relay
import RelayCore

/// Pages of validations: the list, waiting ones, parked ones, and one validation with its timeline.
enum ValidationViews {
    private static let filters: [ConsoleList<ListedValidation>.Filter] = [
        .init("status", "Status", of: ValidationStatus.allCases.map(\.name)), .init("customerEmail", "Email"),
        .init("offerId", "Offer"), .init("originalTransactionId", "Original transaction"),
        .init("olderThanSeconds", "At least so many seconds old"),
    ]

    private static func list(
        at section: Section, path: String, title: String, lead: String? = nil,
        selection: ValidationFilter.Selection, empty: String
    ) -> ConsoleList<ListedValidation> {
        ConsoleList(
            section: section, path: path, title: title, lead: lead, filters: filters, list: .validations(selection),
            picks: [.retry, .abandon], file: path.split(separator: "/").last.map(String.init), live: 5
        ) { items, visit in
            guard let visit else { return table(items, now: nil, empty: "", isWhole: true) }
            return table(items, now: visit.store.memory.clock.now, empty: empty, isSelectable: visit.isOperator)
        }
    }

    static func list(_ visit: ConsoleVisit) async throws -> Response {
        try await show(
            list(
                at: .validations, path: Section.validations.path, title: "Validations", selection: .all,
                empty: "No validation is like that."), visit)
    }

    static func waiting(_ visit: ConsoleVisit) async throws -> Response {
        var list = list(
            at: .validations, path: "/console/waiting", title: "Not taken by Cleeng",
            selection: visit.query["order"] == "newest" ? .waitingNewest : .waiting,
            empty: "Nothing waits: Cleeng has taken every purchase.")
        list.filters.insert(.init("order", "Order", standard: "oldest"), at: 0)
        let summary = try await visit.summary()
        list.lead =
            "\(summary.backlog.forwarding) in all. Each is sent by itself as soon as Cleeng takes it, also after the app has given up."
        return try await show(
            list, visit, alert: Diagnosis(summary).alert,
            choices: [
                "order": [(value: "oldest", title: "oldest first"), (value: "newest", title: "newest first")]
            ])
    }

    static func parked(_ visit: ConsoleVisit) async throws -> Response {
        try await show(
            list(
                at: .parked, path: Section.parked.path, title: "Parked",
                lead:
                    "What no worker could make sense of or get through with. Its neighbours go on. Mend what the reason names, then retry.",
                selection: .parked, empty: "Nothing is parked."), visit)
    }

    private static func show(
        _ list: ConsoleList<ListedValidation>, _ visit: ConsoleVisit, alert: String? = nil,
        choices: [String: [(value: String, title: String)]] = [:]
    ) async throws -> Response {
        if let file = try await list.file(visit) { return file }
        let found = try await list.read(visit)
        var alert = alert
        if alert == nil, found.items.contains(where: { $0.validation.status == .pending }) {
            alert = try await visit.alert()
        }
        return visit.response(list.page(found, visit, alert: alert, choices: choices))
    }

    /// - Parameters:
    ///   - now: reference of ages; nil: no ages are shown.
    ///   - isWhole: whether to show the reason column even if no row has a reason.
    static func table(
        _ items: [ListedValidation], now: Timestamp?, empty: String, isSelectable: Bool = false, isWhole: Bool = false
    ) -> Table {
        // Waiting validations have no reasons yet.
        let hasReasons = isWhole || items.contains { $0.validation.reason != nil || $0.parking != nil }
        var columns = ListedValidation.columns(
            "validationId", "status", "receivedAt", "customerEmail", "offerId", "publisher")
        if hasReasons { columns += ListedValidation.columns("reason") }
        return Table(items, columns, empty: empty) { name, item, text in
            let one = item.validation
            let isOpen = one.status.allowsRetry || one.status.allowsAbandon || item.parking != nil
            return switch name {
            case "validationId":
                .init(
                    text, href: ConsoleLink.validation(one.id), isCode: true,
                    pick: isSelectable && isOpen ? "\(one.id)" : nil)
            case "status":
                .init(one.status.name, tone: ConsoleText.tone(one.status), note: one.late ? "late" : nil)
            case "receivedAt":
                .init(ConsoleText.time(one.acceptedAt), note: now.map { "\(($0 - one.acceptedAt).spoken) ago" })
            case "customerEmail": .init(text, href: ConsoleLink.customer(one.email))
            case "reason": .init(text, note: item.parking.map { "parked: \($0.reason)" })
            default: .init(text)
            }
        }
    }

    // MARK: One

    static func detail(_ visit: ConsoleVisit) async throws -> Response {
        guard let id = visit.context.parameters.get("id").flatMap({ ValidationID($0) }),
            let detail = try await visit.store.ops.detail(id, in: visit.scope)
        else { throw Problem(.unknownValidation, "nothing is known by this id") }
        visit.context.notes.subject = .validation(id)
        let one = detail.validation
        var frame = visit.frame("Validation \(id)", at: .validations, live: one.status == .pending ? 2 : 10)
        if detail.nextStepAt != nil || one.status == .pending { frame.alert = try await visit.alert() }
        let now = visit.store.memory.clock.now ?? one.acceptedAt
        return visit.response(
            DetailPage(
                frame, state: one.status.name, tone: ConsoleText.tone(one.status), lead: meaning(detail),
                actions: visit.isOperator ? actions(detail) : [],
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
        if status.allowsAbandon || detail.parking != nil || status == .rejected && detail.nextStepAt != nil {
            actions.append(.init("Abandon", href: path + "/abandon", isGrave: true))
        }
        return actions
    }

    private static let columns = ValidationDetail.columns(
        "customerEmail", "offerId", "publisher", "app", "appType", "reason", "receivedAt", "deadline", "settledAt",
        "expiresAt", "attempts", "entitledBefore", "originalTransactionId", "transactionId", "environment", "productId",
        "bundleId", "applicationUsername", "couponCode", "driver", "receiptReadable")

    /// Labels of this page that differ from the terminal's.
    private static let labels = [
        "appType": "Sold in", "deadline": "Deadline of the app", "expiresAt": "Access until",
        "attempts": "Tries to send it", "entitledBefore": "Had access before",
        "originalTransactionId": "Original transaction", "driver": "Sent to Cleeng as",
    ]

    private static func facts(
        _ detail: ValidationDetail, now: Timestamp, isAlarmed: Bool
    ) -> [DetailPage.Fact] {
        let one = detail.validation
        var facts: [DetailPage.Fact] = columns.map { field in
            let (label, text) = (labels[field.name] ?? field.label, field.text(detail) { ConsoleText.time($0) })
            return switch field.name {
            case "customerEmail": .init(label, text, href: ConsoleLink.customer(one.email))
            case "settledAt": .init(one.status == .timedOut ? "Timed out" : label, text)
            case "originalTransactionId":
                .init(label, text, href: "/console/search?q=" + detail.originalTransactionID.text.percentEncoded)
            case "driver": .init(label, ConsoleText.driver(detail.driver))
            case "receiptReadable": .init(label, verification(detail))
            default: .init(label, text)
            }
        }
        if let trace = detail.traceID { facts.append(.init("Trace", trace)) }
        if let parking = detail.parking {
            facts.insert(.init("Parked since \(ConsoleText.time(parking.since))", parking.reason), at: 0)
        }
        if let next = detail.nextStepAt, detail.parking == nil {
            facts.append(.init("Next step", step(next, owner: detail.leaseOwner, now: now, isAlarmed: isAlarmed)))
        }
        return facts
    }

    /// When the pursuit continues, or why it does not.
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
