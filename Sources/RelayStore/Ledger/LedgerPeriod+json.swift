import RelayCore

extension LedgerPeriod {
    /// The same text as ``LedgerJSON/text(_:)`` makes of it, by hand: every purchase that is taken in writes one, and an encoder
    /// costs more there than reading the receipt.
    var json: String {
        var text = "{"
        if let discountID { text.appendJSON("discountID", discountID) }
        if let expiresAt { text += "\"expiresAt\":\(expiresAt.microseconds)," }
        text.appendJSON("id", id)
        if let isIntro { text += "\"isIntro\":\(isIntro)," }
        if let isTrial { text += "\"isTrial\":\(isTrial)," }
        text += "\"isUpgraded\":\(isUpgraded),"
        if let originalPurchasedAt { text += "\"originalPurchasedAt\":\(originalPurchasedAt.microseconds)," }
        text += "\"productID\":"
        text.appendJSON(productID)
        text += ",\"purchasedAt\":\(purchasedAt.microseconds),\"replacesEarlier\":\(replacesEarlier)"
        if let revocation {
            text += ",\"revocation\":{\"at\":\(revocation.at.microseconds),\"kind\":\(revocation.kind.rawValue)"
            if let reason = revocation.reason { text += ",\"reason\":\"\(reason.rawValue)\"" }
            text += "}"
        }
        text += ",\"toldAt\":\(toldAt.microseconds)"
        if let transactionID {
            text += ",\"transactionID\":"
            text.appendJSON(transactionID)
        }
        text += "}"
        return text
    }
}

extension String {
    /// A member with a text, and the comma behind it.
    fileprivate mutating func appendJSON(_ name: StaticString, _ text: String) {
        self += "\"\(name)\":"
        appendJSON(text)
        self += ","
    }

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
