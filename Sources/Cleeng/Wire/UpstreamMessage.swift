import NIOCore
import OutboundHTTP

/// The code and the words of an error answer, wherever in the body they stand.
///
/// Cleeng has several error shapes: `{"message":…}` with `success` and `data` in the Core API, `{"errors":["…"]}` in
/// MediaStore, `{"error":{"code":…,"message":…}}` in JSON-RPC; none is published for `/apple/payment` itself.
struct UpstreamMessage: Equatable {
    var code: String?
    var message: String?

    init(code: String? = nil, message: String? = nil) {
        self.code = code
        self.message = message
    }

    init(_ body: ByteBuffer?, scrubber: MessageScrubber) {
        guard let json = JSONValue(body) else {
            self.init(message: Self.plainText(body).flatMap(scrubber.clean))
            return
        }
        let error = json["error"]
        let first = json["errors"]?.list?.first
        let code =
            json["code"]?.scalarText ?? error?["code"]?.scalarText ?? first?["code"]?.scalarText
            ?? json["errorCode"]?.scalarText
        let message =
            json["message"]?.string ?? error?["message"]?.string ?? error?.string ?? first?["message"]?.string
            ?? first?.string ?? json.string
        self.init(code: code.flatMap(scrubber.clean), message: message.flatMap(scrubber.clean))
    }

    /// A short text that is no web page.
    private static func plainText(_ body: ByteBuffer?) -> String? {
        guard let body, (1...4096).contains(body.readableBytes) else { return nil }
        let text = String(buffer: body)
        return text.contains("<") ? nil : text
    }
}
