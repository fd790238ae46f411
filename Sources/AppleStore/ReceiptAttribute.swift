/// One attribute of a receipt or of a purchase in it: `SEQUENCE { type INTEGER, version INTEGER, value OCTET STRING }`.
/// The value is, for most types, one more element.
struct ReceiptAttribute {
    let type: Int64
    let octets: BEROctets

    /// Nil where the type is a number that nobody uses.
    init?(_ document: BERDocument, _ element: BERElement) throws(BERError) {
        guard element.identifier == BERTag.sequence else { throw .unexpectedElement }
        var fields = element.children
        let type = document.integer(try document.next(&fields, BERTag.integer))
        _ = try document.next(&fields, BERTag.integer)
        guard let value = try document.next(&fields) else { throw .unexpectedElement }
        guard let type else { return nil }
        self.type = type
        octets = try document.octets(value)
    }

    private var value: BERElement? {
        var cursor = octets.root
        guard let value = try? octets.document.next(&cursor), cursor.isAtEnd else { return nil }
        return value
    }

    private var characters: ArraySlice<UInt8>? {
        guard let value else { return nil }
        let tag = value.identifier & ~BERTag.constructedBit
        guard tag == BERTag.utf8String || tag == BERTag.ia5String || tag == BERTag.printableString else { return nil }
        return try? octets.document.octets(value, tag).bytes
    }

    var integer: Int64? { value.flatMap(octets.document.integer) }
    var text: String? { characters.flatMap(StoreText.text) }
    var identifier: String? { characters.flatMap(StoreText.identifier) }
    var date: AppleTimestamp? { characters.flatMap(AppleTimestamp.init(text:)) }
    /// Whether anything at all was written, readable or not.
    var isPresent: Bool { characters?.isEmpty == false }
}
