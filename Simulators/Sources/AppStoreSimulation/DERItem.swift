/// One item in DER (X.690), put together from the inside out.
struct DERItem {
    let encoded: [UInt8]

    /// Bytes that stand for themselves.
    init(contents: [UInt8]) { encoded = contents }

    private init(_ identifier: UInt8, _ contents: [UInt8]) {
        var length: [UInt8] = []
        var rest = contents.count
        while rest > 0 {
            length.insert(UInt8(rest & 0xFF), at: 0)
            rest >>= 8
        }
        let head: [UInt8] =
            contents.count < 0x80 ? [UInt8(contents.count)] : [0x80 | UInt8(length.count)] + length
        encoded = [identifier] + head + contents
    }

    static func sequence(_ items: [DERItem]) -> DERItem { DERItem(0x30, items.flatMap(\.encoded)) }
    static func set(_ items: [DERItem]) -> DERItem { DERItem(0x31, items.flatMap(\.encoded)) }
    static func explicit(_ number: UInt8, _ items: [DERItem]) -> DERItem {
        DERItem(0xA0 | number, items.flatMap(\.encoded))
    }
    static func octetString(_ bytes: [UInt8]) -> DERItem { DERItem(0x04, bytes) }
    static func objectIdentifier(_ contents: [UInt8]) -> DERItem { DERItem(0x06, contents) }
    static func utf8String(_ text: String) -> DERItem { DERItem(0x0C, Array(text.utf8)) }
    static func ia5String(_ text: String) -> DERItem { DERItem(0x16, Array(text.utf8)) }
    static let null = DERItem(0x05, [])

    static func integer(_ value: Int) -> DERItem {
        var octets = withUnsafeBytes(of: value.bigEndian) { Array($0) }
        while octets.count > 1, octets[0] == 0 && octets[1] < 0x80 || octets[0] == 0xFF && octets[1] >= 0x80 {
            octets.removeFirst()
        }
        return DERItem(0x02, octets)
    }

    static func integer(contents: [UInt8]) -> DERItem { DERItem(0x02, contents) }
}
