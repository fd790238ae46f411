import Formats

/// The body of a message as it goes on the wire.
///
/// What is stored has no password in it. It is put in when the message is sent, always at the same place:
/// `{"type":"purchases.updated","password":"…","applicationUsername":…`
public enum WebhookBody {
    public static let head = #"{"type":"purchases.updated","#
    public static let test = #"{"type":"test"}"#

    /// - Parameter password: nil: left out. Only a message that begins as ``head`` does carries it.
    public static func whole(_ stored: String, password: String?) -> [UInt8] {
        guard let password, stored.utf8.starts(with: head.utf8) else { return Array(stored.utf8) }
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
