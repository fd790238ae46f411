import Formats

/// A body that Roku posts, parsed but not verified: a JSON Web Signature whose claims hold the message, or the message
/// itself.
struct RokuPush {
    /// A message takes about 1 KiB. The older form is unsigned, so longer bodies are not stored.
    private static let mostUnsignedBytes = 16_384
    private static let messageType = "roku.rpay.push"

    let form: RokuNotification.Form
    /// Unique id of a signed push, the same in all deliveries.
    let key: String
    /// Nil if the push has another type.
    let message: [UInt8]?
    /// The push's type, if it is not the message type.
    let otherType: String?

    /// - Throws: ``SignalError``.
    init(body: [UInt8]) throws(SignalError) {
        if body.first(where: { !Self.isSpace($0) }) == UInt8(ascii: "{") {
            guard (try? SignalText.decode(AnyJSON.self, from: body)) != nil else {
                throw SignalError(.notJSON, "the body is not JSON")
            }
            guard body.count <= Self.mostUnsignedBytes else {
                throw SignalError(
                    .notANotification, "an unsigned notification has at most \(Self.mostUnsignedBytes) bytes")
            }
            (form, key, message, otherType) = (.unsigned, "", body, nil)
            return
        }
        guard let token = RokuPush.token(in: body) else {
            throw SignalError(.notJSON, "the body is neither a JSON Web Signature nor JSON")
        }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.decode(parts[1].utf8, .urlSafe),
            let claims = try? SignalText.decode(Claims.self, from: payload)
        else { throw SignalError(.notANotification, "it is no JSON Web Signature with claims") }
        form = .signed
        // Roku's documentation gives each message a key. A message without one is identified by its signature.
        key = claims.key ?? String(parts[2].prefix(512))
        let isMessage = claims.type == nil || claims.type == Self.messageType
        otherType = isMessage ? nil : claims.type
        // Roku's documentation says base64url, but its sample decodes the standard alphabet.
        message = isMessage ? claims.message.flatMap { Base64.decode($0.utf8, .lenient) } : nil
    }

    /// The text of a signed body, without surrounding white space; nil if the body is empty.
    static func token(in body: [UInt8]) -> String? {
        guard let first = body.firstIndex(where: { !isSpace($0) }), let last = body.lastIndex(where: { !isSpace($0) })
        else { return nil }
        return String(validating: body[first...last], as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0a, 0x0d].contains(byte) }

    private struct Claims: Decodable {
        var message: String?
        var key: String?
        var type: String?

        private enum Key: String, CodingKey {
            case message = "x-Roku-message"
            case key = "x-Roku-message-key"
            case type = "x-Roku-message-type"
        }

        init(from decoder: any Decoder) throws {
            let fields = try decoder.container(keyedBy: Key.self)
            // Longer than the limit for stored texts, so it is decoded directly.
            message = try? fields.decodeIfPresent(String.self, forKey: .message)
            key = fields.text(.key)
            type = fields.text(.type)
        }
    }
}

extension RokuNotification {
    /// The JSON Web Signature in a body; nil for the unsigned form.
    public static func token(in body: [UInt8]) -> String? {
        guard let text = RokuPush.token(in: body), !text.hasPrefix("{") else { return nil }
        return text
    }
}
