import RelayCore

extension LedgerPeriod {
    /// The same text as ``LedgerJSON/text(_:)`` makes of it, by hand: every purchase that is taken in writes one, and an encoder
    /// costs more there than reading the receipt.
    var json: String {
        var text = "{"
        if let expiresAt { text += "\"expiresAt\":\(expiresAt.microseconds)," }
        text += "\"id\":"
        text.appendJSON(id)
        text += ",\"isUpgraded\":\(isUpgraded),\"productID\":"
        text.appendJSON(productID)
        text += ",\"purchasedAt\":\(purchasedAt.microseconds),\"replacesEarlier\":\(replacesEarlier)"
        if let revocation {
            text += ",\"revocation\":{\"at\":\(revocation.at.microseconds),\"kind\":\(revocation.kind.rawValue)}"
        }
        text += ",\"toldAt\":\(toldAt.microseconds)}"
        return text
    }
}

extension String {
    /// As a JSON string.
    fileprivate mutating func appendJSON(_ text: String) {
        append("\"")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\u{08}": append("\\b")
            case "\u{0C}": append("\\f")
            case "\n": append("\\n")
            case "\r": append("\\r")
            case "\t": append("\\t")
            case ..<" ":
                append("\\u00")
                append(scalar.value < 16 ? "0" : "")
                append(String(scalar.value, radix: 16))
            default: unicodeScalars.append(scalar)
            }
        }
        append("\"")
    }
}
