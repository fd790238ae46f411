import Formats
import HTTPServer
import Hummingbird
import RelayCore

/// The answer to a posted purchase, for every store.
enum PaymentAnswer {
    /// Returns 202 while the validation is pending, and 200 if a repeat finds it settled.
    static func response(_ validation: Validation, warnings: [FieldError], poll: PollInterval) -> Response {
        let id = validation.id.description
        var writer = JSONWriter(capacity: 512)
        writer.beginObject()
        writer.field("validationId", id)
        writer.field("status", validation.status.name)
        writer.field("accessGranted", validation.status.accessGranted)
        writer.field("customerEmail", validation.email)
        writer.field("offerId", validation.offerID)
        if validation.status.isFinalForPolling { writer.field("reason", validation.reason) }
        writer.field("receivedAt", validation.acceptedAt)
        if validation.status.isFinalForPolling { writer.field("settledAt", validation.settledAt) }
        writer.field("deadline", validation.deadline)
        if validation.status.isFinalForPolling {
            writer.field("late", validation.late)
            writer.field("expiresAt", validation.expiresAt)
        }
        writer.field("pollAfterSeconds", poll.seconds)
        if !warnings.isEmpty { writer.array("warnings", warnings) }
        writer.endObject()
        var headers: HTTPFields = [
            .contentType: "application/json", .location: "/entitlements/\(id)", .cacheControl: "no-store",
        ]
        if !validation.status.isFinalForPolling { headers[.retryAfter] = poll.text }
        return Response(
            status: validation.status.isFinalForPolling ? .ok : .accepted, headers: headers,
            body: ResponseBody(byteBuffer: writer.buffer))
    }
}
