/// A Cleeng offer id such as `S598742062_US`: the kind of offer, nine digits, and the country where it is sold.
///
/// Cleeng's published schema requires one of S, P, E, A, R, nine digits of which the first is not 0, an underscore and
/// two letters. The country may be missing: `getAccessStatus` then means "in any country".
struct OfferId: Hashable, Sendable {
    let text: String

    /// The default offer.
    static let standard = OfferId(wellFormed: "S123456789_US")

    init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10 || bytes.count == 13, "SPEAR".utf8.contains(bytes[0]) else { return nil }
        guard bytes[1...9].allSatisfy({ (0x30...0x39).contains($0) }), bytes[1] != 0x30 else { return nil }
        if bytes.count == 13 {
            guard bytes[10] == UInt8(ascii: "_") else { return nil }
            guard bytes[11...12].allSatisfy({ (0x41...0x5A).contains($0) }) else { return nil }
        }
        self.text = String(text)
    }

    private init(wellFormed text: String) {
        self.text = text
    }

    /// S subscription, P pass, E event, A one-time, R rental.
    var kind: Character { text.first ?? "S" }

    /// Type name in events.
    var typeName: String {
        switch kind {
        case "S": "subscription"
        case "P": "pass"
        case "E": "event"
        case "R": "rental"
        default: "single"
        }
    }

    /// Whether an entitlement to `other` answers a query for `self`.
    func covers(_ other: OfferId) -> Bool {
        text == other.text || (text.utf8.count == 10 && other.text.hasPrefix(text + "_"))
    }
}
