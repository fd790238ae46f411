import Formats
import HTTPServer
import HTTPTypes
import Hummingbird
import NIOCore
import RelayCore

/// The answer to a poll.
struct PollAnswer: Sendable {
    let poll: PollInterval
    let ifNoneMatch: String?
    /// Seconds in `Preference-Applied`.
    var appliedWait: Int?

    func isUnchanged(_ known: KnownValidation) -> Bool {
        EntityTag.matches(ifNoneMatch, PollText.of(known).tag)
    }

    func response(_ known: KnownValidation) -> Response {
        let (head, body) = parts(known)
        var response = Response(
            status: head.status, headers: head.headerFields,
            body: body.map { ResponseBody(byteBuffer: $0) } ?? ResponseBody())
        // The response sets the length of an empty body, 0, but that of the omitted body is not 0.
        if body == nil { response.headers[.contentLength] = nil }
        return response
    }

    /// The answer's parts. There is no body if the client has this answer already.
    func parts(_ known: KnownValidation) -> (head: HTTPResponse, body: ByteBuffer?) {
        let text = PollText.of(known)
        var headers: HTTPFields = [.eTag: text.tag, .cacheControl: "no-store"]
        if !known.validation.status.isFinalForPolling { headers[.retryAfter] = poll.text }
        if let appliedWait { headers[.preferenceApplied] = "wait=\(appliedWait)" }
        if EntityTag.matches(ifNoneMatch, text.tag) {
            return (HTTPResponse(status: .notModified, headerFields: headers), nil)
        }
        headers[.contentType] = "application/json"
        headers[.contentLength] = text.length
        return (HTTPResponse(status: .ok, headerFields: headers), text.body)
    }
}

/// A poll's answer as sent, without the parts that depend on the request.
struct PollText: Sendable {
    let tag: String
    let body: ByteBuffer
    let length: String

    private init(_ validation: Validation) {
        tag = EntityTag.of(validation)
        body = validation.pollJSON
        length = String(body.readableBytes)
    }

    static func of(_ known: KnownValidation) -> PollText {
        known.serialized { PollText($0) }
    }
}

/// Seconds that an app must wait before it polls again, for `Retry-After` and `pollAfterSeconds`: rounded up, at least
/// one.
struct PollInterval: Sendable {
    let seconds: Int
    let text: String

    init(_ interval: Duration) {
        let (whole, rest) = interval.components
        seconds = Swift.max(1, Int(clamping: whole) + (rest > 0 ? 1 : 0))
        text = String(seconds)
    }
}

/// The strong validator of a poll's answer (RFC 9110 section 8.8.3).
enum EntityTag {
    static func of(_ validation: Validation) -> String {
        "\"\(String(hash(of: validation), radix: 16))\""
    }

    static func hash(of validation: Validation) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        func mix(_ value: UInt64) {
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                hash = (hash ^ (value >> shift & 0xff)) &* 0x0000_0100_0000_01b3
            }
        }
        mix(validation.id.high)
        mix(validation.id.low)
        mix(UInt64(validation.status.rawValue) << 1 | (validation.late ? 1 : 0))
        // A missing time must differ from the time zero.
        for time in [validation.settledAt, validation.expiresAt] {
            mix(time == nil ? 0 : 1)
            mix(UInt64(bitPattern: time?.microseconds ?? 0))
        }
        for byte in (validation.reason ?? "").utf8 { mix(UInt64(byte)) }
        return hash
    }

    /// Whether `If-None-Match` names the tag. Weak comparison (section 13.1.2).
    static func matches(_ header: String?, _ tag: String) -> Bool {
        guard let header else { return false }
        return header.parts(at: ",", maxSplits: 32).prefix(32).contains { entry in
            var text = entry.withoutBlanks
            if text.hasBytes(first: "W/") { text = text.droppingBytes(first: 2) }
            return text.isSame("*") || text.isSame(tag)
        }
    }
}

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
