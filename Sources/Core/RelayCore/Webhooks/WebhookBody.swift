import Formats

/// The body of a message on the wire.
///
/// The stored body contains no password. It is inserted on sending, always at the same place:
/// `{"type":"purchases.updated","password":"…","applicationUsername":…`
public enum WebhookBody {
    public static let head = #"{"type":"purchases.updated","#
    /// Start of a message about a store's notification that concerns no purchase.
    public static let noticeHead = #"{"type":"store.notification","#
    public static let test = #"{"type":"test"}"#

    /// The text before the password; nil if the message contains none.
    private static func head(of stored: String) -> String? {
        [head, noticeHead].first { stored.utf8.starts(with: $0.utf8) }
    }

    /// Whether the message contains the password, if one is configured.
    public static func hasPassword(_ stored: String) -> Bool { head(of: stored) != nil }

    /// - Parameter password: nil: omitted. Only a message that begins with ``head`` or ``noticeHead`` contains it.
    public static func whole(_ stored: String, password: String?) -> [UInt8] {
        guard let password, let head = head(of: stored) else { return Array(stored.utf8) }
        let quoted = quoted(password)
        var body: [UInt8] = []
        body.reserveCapacity(stored.utf8.count + quoted.count + 12)
        body += head.utf8
        body += #""password":"#.utf8
        body += quoted
        // The comma would be wrong before the end of the object.
        if stored.utf8.dropFirst(head.utf8.count).first != UInt8(ascii: "}") { body.append(UInt8(ascii: ",")) }
        body += stored.utf8.dropFirst(head.utf8.count)
        return body
    }

    /// `{"type":"test","password":…}`
    public static func test(password: String?) -> [UInt8] {
        guard let password else { return Array(test.utf8) }
        return Array(test.utf8.dropLast()) + Array(#","password":"#.utf8) + quoted(password) + [UInt8(ascii: "}")]
    }

    /// Encodes a JSON string.
    private static func quoted(_ text: String) -> [UInt8] {
        var writer = JSONWriter(capacity: text.utf8.count + 8)
        writer.value(text)
        return writer.bytes
    }
}

/// Distinguishes passwords without revealing them: sixteen bits of a digest, too few to guess the password.
///
/// A message stores the mark of its first try. If the password has changed by a later try, the body differs, and is
/// sent with an id of its own: `ID.MARK`.
public struct BodyMark: Sendable, Equatable {
    public let number: Int32

    public init(number: Int32) {
        self.number = number
    }

    /// - Parameter first: mark of the message's first try.
    public func messageID(_ id: some CustomStringConvertible, first: BodyMark) -> String {
        self == first ? "\(id)" : "\(id).\(String(UInt32(bitPattern: number), radix: 16))"
    }
}

/// The content of a message with one id. Standard Webhooks signs the id, the second of the try and the body.
public struct WebhookMessage: Sendable, Equatable {
    /// `webhook-id`: the same in all tries, and never reused for another body.
    public var id: String
    public var body: [UInt8]

    public init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }

    /// - Parameter secondsSince1970: value of `webhook-timestamp`.
    public func signedContent(secondsSince1970: Int64) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(id.utf8.count + 24 + body.count)
        content += id.utf8
        content += ".\(secondsSince1970).".utf8
        content += body
        return content
    }
}
