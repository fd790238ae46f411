import Formats
import HTTPTypes
import Hummingbird
import RelayCore
import RelayStore

/// `GET /ops/validations/{id}`: all that is known of one, with its timeline.
struct ValidationDetailRoutes: Sendable {
    let store: RelayStore
    let authenticator: Authenticator

    var routes: [Route] { [.get("/ops/validations/:id", detail)] }

    private func detail(_ request: Request, _ context: FrontContext) async throws -> Response {
        let scope = try await authenticator.key(request, context, opening: .opsViewer).opsScope
        guard let id = context.parameters.get("id").flatMap({ ValidationID($0) }),
            let detail = try await store.detail(id, in: scope)
        else { throw Problem(.unknownValidation, "nothing is known by this id") }
        context.notes.validation = id
        var writer = JSONWriter(capacity: 4_096)
        writer.detail(detail)
        return .json(writer)
    }
}

extension JSONWriter {
    mutating func detail(_ detail: ValidationDetail) {
        beginObject()
        poll(detail.validation)
        field("customerEmail", detail.validation.email)
        field("publisher", detail.validation.publisher)
        field("app", detail.validation.app)
        field("appType", detail.appType)
        field("couponCode", detail.couponCode)
        field("transactionId", detail.transactionID)
        field("originalTransactionId", detail.originalTransactionID)
        field("environment", detail.environment)
        field("productId", detail.productID)
        field("bundleId", detail.bundleID)
        field("applicationUsername", detail.applicationUsername)
        field("receiptReadable", detail.isReceiptReadable)
        verification(detail.verification)
        field("driver", detail.driver.name)
        field("cleengCustomerId", json: detail.cleengCustomer.map { String($0) })
        field("entitledBefore", detail.entitledBefore)
        field("attempts", detail.attempts)
        evidence(detail.evidence)
        field("nextStepAt", detail.nextStepAt)
        field("leaseOwner", detail.leaseOwner)
        parking(detail.parking)
        transfer(detail.transfer)
        field("traceId", detail.traceID)
        timeline(detail.timeline)
        endObject()
    }

    private mutating func verification(_ verification: Verification) {
        beginObject("verification")
        field("result", verification.result.name)
        field("code", verification.code)
        field("detail", verification.detail)
        endObject()
    }

    /// Embedded as the JSON that it is; should it ever be none, as the text that it is.
    private mutating func evidence(_ text: String?) {
        guard let text else { return field("evidence", json: nil) }
        if JSONScanner.isJSON(text) { field("evidence", json: text) } else { field("evidence", text) }
    }

    private mutating func transfer(_ transfer: ValidationDetail.Transfer?) {
        guard let transfer else { return field("transfer", json: nil) }
        beginObject("transfer")
        field("from", transfer.from.text)
        field("to", transfer.to.text)
        field("fromValidationId", transfer.fromValidation.description)
        field("toValidationId", transfer.toValidation.description)
        field("at", transfer.at)
        endObject()
    }

    private mutating func timeline(_ entries: [ValidationDetail.Entry]) {
        beginArray("timeline")
        for entry in entries {
            beginObject()
            field("at", entry.event.at)
            field("event", entry.event.kind.name)
            field("upstreamStatus", entry.event.upstreamStatus)
            field("latencyMs", entry.event.latency.map { Int($0.microseconds / 1_000) })
            field("instance", entry.instance.isEmpty ? nil : entry.instance)
            field("detail", entry.event.detail)
            endObject()
        }
        endArray()
    }
}
