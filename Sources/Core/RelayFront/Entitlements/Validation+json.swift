import Formats
import NIOCore
import RelayCore

extension JSONWriter {
    /// Writes the fields of a poll's answer, without the braces.
    mutating func poll(_ validation: Validation) {
        field("validationId", validation.id.description)
        field("status", validation.status.name)
        field("accessGranted", validation.status.accessGranted)
        field("offerId", validation.offerID)
        field("reason", validation.reason)
        field("receivedAt", validation.acceptedAt)
        field("settledAt", validation.settledAt)
        field("deadline", validation.deadline)
        field("late", validation.late)
        field("expiresAt", validation.expiresAt)
    }

    /// Writes the known entitlements of a customer.
    mutating func entitlements(_ known: [Validation]) {
        beginArray("entitlements")
        for one in known {
            beginObject()
            poll(one)
            endObject()
        }
        endArray()
    }
}

extension Validation {
    /// The poll's answer.
    var pollJSON: ByteBuffer {
        var writer = JSONWriter(capacity: 384)
        writer.beginObject()
        writer.poll(self)
        writer.endObject()
        return writer.buffer
    }
}
