import RelayCore

/// The customer's address as an app sends it. A wrong one never fails a purchase: it is left out, and the answer says so.
enum CustomerAddress {
    static func read(_ field: JSONField) -> (text: String?, warnings: [FieldError]) {
        switch field {
        case .absent: return (nil, [])
        case .other(let kind): return ignored("must be a string, not \(kind.article)")
        case .string(let text):
            guard IPAddress(text) != nil else { return ignored("must be an IPv4 or IPv6 address") }
            return (text, [])
        }
    }

    private static func ignored(_ why: String) -> (text: String?, warnings: [FieldError]) {
        (nil, [FieldError("ipAddress", .ignored, "the address \(why); the purchase goes on with the peer's")])
    }
}
