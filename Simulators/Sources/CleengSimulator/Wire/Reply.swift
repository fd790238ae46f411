/// An HTTP answer, ready to be written.
struct Reply: Sendable, Equatable {
    let status: Int
    let body: [UInt8]
    var headers: [NamedValue] = []
    var contentType = "application/json"

    init(status: Int, body: [UInt8]) {
        self.status = status
        self.body = body
    }

    init(status: Int = 200, json: some Encodable) {
        self.init(status: status, body: JSONValue.bytes(of: json))
    }

    init(_ fault: WireFault) {
        var fields: [String: JSONValue] = [
            "success": .bool(false), "data": .null, "code": .string(fault.code), "message": .string(fault.message),
        ]
        if !fault.fields.isEmpty { fields["fields"] = .array(fault.fields.map(JSONValue.string)) }
        self.init(status: fault.status, json: JSONValue.object(fields))
    }

    /// A success whose body is a broken page, as a proxy on the way might send.
    static var garbage: Reply {
        var reply = Reply(status: 200, body: Array("<html><body>It works, but this is no JSON".utf8))
        reply.contentType = "text/html"
        return reply
    }

    func with(header name: String, _ value: String) -> Reply {
        var reply = self
        reply.headers.append(NamedValue(name: name, value: value))
        return reply
    }
}
