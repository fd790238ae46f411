import Formats

/// The body of a message on the wire.
///
/// What is stored has no password in it. It is put in when the message is sent, always at the same place:
/// `{"type":"purchases.updated","password":"…","applicationUsername":…`
public enum WebhookBody {
    public static let head = #"{"type":"purchases.updated","#
    /// Start of a message about a store's notification that concerns no purchase.
    public static let noticeHead = #"{"type":"store.notification","#
    public static let test = #"{"type":"test"}"#

    /// What stands before the password; nil: the message carries none.
    private static func head(of stored: String) -> String? {
        [head, noticeHead].first { stored.utf8.starts(with: $0.utf8) }
    }

    /// Whether a message carries the password, if there is one.
    public static func hasPassword(_ stored: String) -> Bool { head(of: stored) != nil }

    /// - Parameter password: nil: left out. Only a message that begins as ``head`` or ``noticeHead`` does carries it.
    public static func whole(_ stored: String, password: String?) -> [UInt8] {
        guard let password, let head = head(of: stored) else { return Array(stored.utf8) }
        let quoted = quoted(password)
        var body: [UInt8] = []
        body.reserveCapacity(stored.utf8.count + quoted.count + 12)
        body += head.utf8
        body += #""password":"#.utf8
        body += quoted
        // An object that ends right there has nothing for the comma to part.
        if stored.utf8.dropFirst(head.utf8.count).first != UInt8(ascii: "}") { body.append(UInt8(ascii: ",")) }
        body += stored.utf8.dropFirst(head.utf8.count)
        return body
    }

    /// `{"type":"test","password":…}`
    public static func test(password: String?) -> [UInt8] {
        guard let password else { return Array(test.utf8) }
        return Array(test.utf8.dropLast()) + Array(#","password":"#.utf8) + quoted(password) + [UInt8(ascii: "}")]
    }

    /// As a JSON string.
    private static func quoted(_ text: String) -> [UInt8] {
        var writer = JSONWriter(capacity: text.utf8.count + 8)
        writer.value(text)
        return writer.bytes
    }
}

/// Tells one password from another, without telling what it is: sixteen bits of a digest, too few to guess by.
///
/// The mark of a message's first try is kept with it. Where the password is another one by a later try, the body is
/// another one too, and goes out under an id of its own: `ID.MARK`.
public struct BodyMark: Sendable, Equatable {
    public let number: Int32

    public init(number: Int32) {
        self.number = number
    }

    /// - Parameter first: that of the message's first try.
    public func messageID(_ id: some CustomStringConvertible, first: BodyMark) -> String {
        self == first ? "\(id)" : "\(id).\(String(UInt32(bitPattern: number), radix: 16))"
    }
}

/// The content of a message under one id. Standard Webhooks: the signature is over the id, the second of the try and the body.
public struct WebhookMessage: Sendable, Equatable {
    /// `webhook-id`: the same over all tries, and never of another body.
    public var id: String
    public var body: [UInt8]

    public init(id: String, body: [UInt8]) {
        self.id = id
        self.body = body
    }

    /// - Parameter secondsSince1970: as in `webhook-timestamp`.
    public func signedContent(secondsSince1970: Int64) -> [UInt8] {
        var content: [UInt8] = []
        content.reserveCapacity(id.utf8.count + 24 + body.count)
        content += id.utf8
        content += ".\(secondsSince1970).".utf8
        content += body
        return content
    }
}
