import HTTPTypes

/// `X-Request-Id`: under which a request is found in the log.
enum RequestID {
    /// The client's own where it is one that can stand in a log, else a new one.
    static func of(_ headers: HTTPFields) -> String {
        guard let sent = headers[.xRequestID], isSafe(sent) else { return make() }
        return sent
    }

    /// 16 hexadecimal digits.
    static func make() -> String {
        let text = String(UInt64.random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }

    static func isSafe(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
