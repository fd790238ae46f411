import RelayCore

extension OpsNotification: Viewed {
    public static let fields: [Field<OpsNotification>] = [
        Field("id", "Notification") { $0.id },
        Field("store", "Store") { $0.store },
        Field("version") { Int($0.version) },
        Field("notificationUUID") { $0.uuid },
        Field("type", "Type") { $0.type }.worded {
            [$0.type, $0.subtype].compactMap(\.self).joined(separator: " ")
        },
        Field("subtype") { $0.subtype },
        Field("originalTransactionId", "Original transaction") { $0.originalTransactionID },
        Field("environment", "Environment") { $0.environment },
        Field("bundleId", "Bundle") { $0.bundleID },
        Field("publisher", "Publisher") { $0.publisher },
        Field("signedDate", "Said") { $0.signedAt },
        Field("receivedAt", "Received") { $0.receivedAt },
        Field("understood", "Understood") { $0.isUnderstood },
        Field("relay", "Status") { one in
            FieldValue.object([
                ("status", .text(one.relay.name)), ("attempts", .number(one.attempts)),
                ("deliveredAt", one.relayedAt?.fieldValue ?? .null),
                ("lastError", one.lastError?.fieldValue ?? .null),
            ])
        }.worded { $0.relay.name },
        // In JSON the field is part of `relay`.
        Field("attempts", "Tries") { _ in
            FieldValue.absent
        }.worded { "\($0.attempts)" },
        Field("lastError", "Last error") { _ in
            FieldValue.absent
        }.worded { $0.lastError },
    ]
}

extension TestedNotification: Viewed {
    public static let fields: [Field<TestedNotification>] = [
        Field("environment", "Environment") { $0.environment },
        Field("bundleId", "Bundle") { $0.bundleID },
        Field("outcome", "Outcome") { $0.outcome.rawValue },
        Field("detail", "Detail") { $0.words },
        Field("notificationUUID") { $0.uuid },
        Field("attempts", "Tries") { one in
            FieldValue.list(
                one.attempts.map { .object([("at", .time($0.at)), ("sendAttemptResult", .text($0.result))]) })
        },
    ]
}

extension RefundLookup: Viewed {
    public static let fields: [Field<RefundLookup>] = [
        Field("known", "Known") { $0.isKnown },
        Field("found", "Refunds") { $0.found },
        Field("new", "New") { $0.new },
        Field("unusable", "Not usable") { $0.unusable },
        Field("hasMore", "More") { $0.hasMore },
    ]
}

extension OpsConsumption: Viewed {
    public static let fields: [Field<OpsConsumption>] = [
        Field("id", "Notification") { $0.id },
        Field("state", "State") { $0.state.name },
        Field("askedAt", "Asked") { $0.askedAt },
        Field("deadline", "Deadline") { $0.deadline },
        Field("reason", "Reason") { $0.reason },
        Field("originalTransactionId", "Original transaction") { $0.originalTransactionID },
        Field("transactionId", "Transaction") { $0.transactionID },
        Field("environment", "Environment") { $0.environment },
        Field("bundleId", "Bundle") { $0.bundleID },
        Field("publisher", "Publisher") { $0.publisher },
        Field("applicationUsername", "Customer") { $0.applicationUsername },
        Field("customerSince", "Customer since") { $0.boughtAt },
        Field("attempts", "Tries") { $0.attempts },
        Field("nextTryAt", "Next try") { $0.nextTryAt },
        Field("lastError", "Last error") { $0.lastError },
        Field("endedAt", "Ended") { $0.endedAt },
        Field("answer", "Answer") { $0.answer.map { FieldValue.json($0) } },
        Field("parkedAt", "Parked") { $0.parkedAt },
    ]
}

extension OpsEvent: Viewed {
    public static let fields: [Field<OpsEvent>] = [
        Field("id", "Event") { $0.id },
        Field("topic", "Topic") { $0.topic },
        Field("account", "Account") { $0.account },
        Field("receivedAt", "Received") { $0.receivedAt },
        Field("status", "Status") { $0.status.rawValue },
        Field("attempts", "Tries") { $0.attempts },
        Field("outcome", "Outcome") { $0.outcome },
        Field("lastError", "Last error") { $0.lastError },
        Field("parkedAt", "Parked") { $0.parkedAt },
        Field("nextTryAt", "Next try") { $0.nextTryAt },
    ]
}

extension OpsDelivery: Viewed {
    public static let fields: [Field<OpsDelivery>] = [
        Field("id", "Message") { $0.id },
        Field("endpoint", "Endpoint") { $0.endpoint },
        Field("url", "URL") { $0.url },
        Field("publisher", "Publisher") { $0.publisher },
        Field("applicationUsername", "Customer") { $0.applicationUsername },
        Field("state", "State") { $0.state.name },
        Field("tries", "Tries") { $0.tries },
        Field("lastStatus", "Answer") { $0.lastStatus }.worded { one in
            one.lastError ?? one.lastStatus.map { "HTTP \($0)" }
        },
        Field("lastError", "Last error") { $0.lastError },
        Field("createdAt", "Made") { $0.createdAt },
        Field("finishedAt", "Finished") { $0.finishedAt },
        Field("nextTryAt", "Next try") { $0.nextTryAt },
    ]
}

extension WebhookEndpoint: Viewed {
    public static let fields: [Field<WebhookEndpoint>] = [
        Field("id", "ID") { $0.id },
        Field("url", "URL") { $0.url },
        Field("publisher", "Publisher") { $0.publisher },
        Field("environment", "Environment") { $0.environment.name },
        Field("state", "State") { $0.isActive ? "active" : "disabled" }.worded {
            $0.isActive ? "active" : "disabled (\($0.disabledReason ?? "?"))"
        },
        Field("disabledReason") { $0.disabledReason },
        Field("disabledAt", "Disabled") { $0.disabledAt },
        Field("failingSince", "Failing since") { $0.failingSince },
        Field("lastSuccessAt", "Last success") { $0.lastSuccessAt },
        Field("createdAt", "Made") { $0.createdAt },
        Field("fromSettings") { $0.isFromSettings },
        Field("events", "Receives") { one in
            guard case .events(let names) = one.kind else { return FieldValue.absent }
            return FieldValue.list(names.map { .text($0) })
        }.worded { $0.kind == .purchases ? "purchases" : "events by id" },
    ]
}
