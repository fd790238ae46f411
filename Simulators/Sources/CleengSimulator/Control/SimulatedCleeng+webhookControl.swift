extension SimulatedCleeng {
    /// `/_simulator/webhooks`: where events go from now on, those that wait included.
    mutating func changeWebhooks(_ call: ControlCall) throws(ControlFault) -> Reply {
        switch call.method {
        case "PUT":
            try call.allowOnly("url", "secret", "signatureHeader", "signatureEncoding", "withEmail")
            webhooks = try Self.target(call.body ?? .object([:]))
        case "DELETE":
            webhooks = nil
            outbox.removeWaiting()
            repeatedReceipts = Agenda()
        default: break
        }
        return Reply(json: WebhooksView(self))
    }

    private static func target(_ body: JSONValue) throws(ControlFault) -> WebhookTarget {
        guard let url = body["url"]?.string, let secret = body["secret"]?.string else {
            throw .invalid("url and secret are required, both texts")
        }
        let header = body["signatureHeader"] ?? .string(WebhookTarget.standardHeader)
        guard let header = header.string else { throw .invalid("signatureHeader is a text") }
        let encoding = body["signatureEncoding"] ?? .string(WebhookTarget.Encoding.hex.rawValue)
        guard let encoding = encoding.string.flatMap({ WebhookTarget.Encoding(rawValue: $0) }) else {
            throw .invalid("signatureEncoding is hex or base64")
        }
        guard case .bool(let withEmail) = body["withEmail"] ?? .bool(false) else {
            throw .invalid("withEmail is true or false")
        }
        return try WebhookTarget(
            url: url, secret: secret, signatureHeader: header, signatureEncoding: encoding, withEmail: withEmail)
    }
}
