/// Identifier octets (X.690, 8.1.2) that receipts are made of. Tag numbers above 30 never carry meaning here.
enum BERTag {
    static let integer: UInt8 = 0x02
    static let octetString: UInt8 = 0x04
    static let objectIdentifier: UInt8 = 0x06
    static let utf8String: UInt8 = 0x0C
    static let printableString: UInt8 = 0x13
    static let ia5String: UInt8 = 0x16
    static let sequence: UInt8 = 0x30
    static let set: UInt8 = 0x31

    /// Context-specific and constructed: `[number]`, explicit, or implicit over a constructed type.
    static func context(_ number: UInt8) -> UInt8 { 0xA0 | number }

    static let constructedBit: UInt8 = 0x20
}
